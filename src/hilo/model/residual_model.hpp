#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hilo/core/random.hpp"
#include "hilo/core/simd.hpp"
#include "hilo/env/space.hpp"
#include "hilo/model/gaussian_process.hpp"

namespace hilo {

// Steps of an expensive simulator, and what a cheap one says about them.
struct ResidualData {
  ResidualData(Space its_states, Space its_actions, std::vector<std::size_t> its_angles);

  Space states, actions;
  std::vector<std::size_t> angles;  // coordinates of states, rising

  std::size_t size() const { return episodes.size(); }
  // Discrete actions are indices, as numbers. `expected` is what the cheap simulator made of the
  // state and the action. Where one of the two left the finite numbers, nothing is learnt from the
  // step.
  void add(std::uint32_t episode, std::span<const double> state, std::span<const double> action,
           std::span<const double> next, double reward, std::span<const double> expected,
           double expected_reward);

  std::size_t num_inputs() const;
  std::size_t num_outputs() const { return states.dimension() + 1; }

  std::vector<double> inputs;   // num_inputs() for each step: cosine and sine of angles, the other
                                // coordinates, the action
  std::vector<double> outputs;  // num_outputs(): the residuals of the next state and of the reward
  std::vector<double> seen;     // 1, or 0 where an output is not known: the next state was cut at
                                // the bounds of its box, or is no number
  std::vector<std::uint32_t> episodes;
};

struct ResidualOptions {
  std::size_t frequencies = 150;  // random ones, each with a sine and a cosine
  ProcessOptions process = {};
  // Factors of the standard deviations, for each output of the data, beside those that the model
  // finds itself; empty: 1.
  std::vector<double> caution = {};
};

// One function that agrees with the data: weights of the features, for all outputs.
struct ResidualSample {
  std::vector<double> weights;  // [feature][output], as the kernel reads them
};

// The difference between an expensive simulator and a cheap one as a function of state and action:
// Bayesian linear regression on random Fourier features (Rahimi and Recht 2007), whose length
// scales, one for each input, are those of an exact Gaussian process on some of the data. It is
// immutable once it is made; without data it is zero.
class ResidualModel {
 public:
  // Starts the search for scales at those of an earlier model, which may be null. Frequencies are
  // drawn for the seed alone.
  ResidualModel(const ResidualData& data, const ResidualOptions& options, std::uint64_t seed,
                const ResidualModel* before = nullptr);
  // With scales that are known, as those of a model that was saved: the result is that model.
  ResidualModel(const ResidualData& data, const ResidualOptions& options, std::uint64_t seed,
                const ProcessScales& known);
  ~ResidualModel();
  ResidualModel(const ResidualModel&) = delete;
  ResidualModel& operator=(const ResidualModel&) = delete;

  // Adds the residual of every path to `next` and to its reward. The states are those before the
  // step.
  void correct(const ResidualSample& sample, const Columns& states, const Columns& actions,
               Columns& next, std::span<double> rewards) const;

  ResidualSample mean() const;
  ResidualSample sample(const Stream& stream) const;

  // Mean and standard deviation of the next state's residual and of the reward's at one state and
  // action, noise included.
  struct Prediction {
    std::vector<double> mean, deviation;
  };
  Prediction predict(std::span<const double> state, std::span<const double> action) const;
  // The same from the inputs of a step, as the data have them.
  Prediction predict_inputs(std::span<const double> inputs) const;

  const ProcessScales& scales() const;
  // By which standard deviations are multiplied, for each output: from errors on whole episodes
  // that were left out, times the caution of the options.
  std::span<const double> inflation() const;
  // The sum of the logarithms of mean squared errors on episodes that were left out, over the
  // coordinates of a state. For comparing models of the same steps.
  double held_out_error() const;
  bool is_empty() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
