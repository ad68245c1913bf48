#include "bindings.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "hilo/exact/optimum.hpp"
#include "hilo/exact/return_moments.hpp"
#include "hilo/exact/solve.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo::python {
namespace {

// A policy from Python: an action for every state, or a probability for every state-action pair.
using Policy = std::variant<InMatrix<double>, Indices>;

PolicyMatrix matrix_of(const Model& model, const Policy& policy) {
  if (const auto* actions = std::get_if<Indices>(&policy)) {
    const std::vector<Action> chosen(actions->data(), actions->data() + actions->size());
    if (chosen.size() != model.num_states())
      throw Error(Errc::usage, "the policy has " + std::to_string(chosen.size()) +
                                   " actions, but must have one for each of the " +
                                   std::to_string(model.num_states()) + " states");
    for (const Action a : chosen)
      require_within("action", std::uint64_t{a}, 0, model.num_actions() - 1, Errc::usage);
    return deterministic_policy(chosen, model.num_actions());
  }
  const auto& matrix = std::get<InMatrix<double>>(policy);
  if (matrix.shape(0) != model.num_states() || matrix.shape(1) != model.num_actions())
    throw Error(Errc::usage, "the policy has shape (" + std::to_string(matrix.shape(0)) + ", " +
                                 std::to_string(matrix.shape(1)) + "), but must have (" +
                                 std::to_string(model.num_states()) + ", " +
                                 std::to_string(model.num_actions()) + ")");
  PolicyMatrix out{
      model.num_states(), model.num_actions(), {matrix.data(), matrix.data() + matrix.size()}};
  for (std::size_t s = 0; s < out.num_states; ++s) {
    double sum = 0;
    for (std::size_t a = 0; a < out.num_actions; ++a) {
      const double p = out.probability[s * out.num_actions + a];
      require_within("probability", p, 0, 1, Errc::usage);
      sum += p;
    }
    require_within("sum of the probabilities of state " + std::to_string(s), sum, 1 - 1e-9,
                   1 + 1e-9, Errc::usage);
  }
  return out;
}

nb::tuple pack(Values values, std::size_t num_states) {
  return nb::make_tuple(own(std::move(values.v)), own(std::move(values.q), num_states));
}

// The signature of functions that take a policy in either form and return two arrays.
std::string signature(const std::string& name) {
  return "def " + name +
         "(model: Model, policy: numpy.typing.NDArray[numpy.float64] | "
         "numpy.typing.NDArray[numpy.uint32], gamma: float) -> "
         "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]";
}

}  // namespace

void bind_exact(nb::module_& m) {
  nb::class_<Solution>(m, "Solution", "An exact solution of an MDP.")
      .def_prop_ro(
          "v",
          [](nb::handle self) {
            return view<double>(nb::cast<const Solution&>(self).values.v, self);
          },
          "The value of every state.", nb::rv_policy::reference)
      .def_prop_ro(
          "q",
          [](nb::handle self) {
            const Values& values = nb::cast<const Solution&>(self).values;
            return view<double>(values.q, values.v.size(), self);
          },
          "The value of every state-action pair, of shape (num_states, num_actions).",
          nb::rv_policy::reference)
      .def_prop_ro(
          "policy",
          [](nb::handle self) {
            return view<Action>(nb::cast<const Solution&>(self).policy, self);
          },
          "An optimal action for every state.", nb::rv_policy::reference)
      .def_ro("iterations", &Solution::iterations, "Number of iterations.")
      .def("__repr__", [](const Solution& s) {
        return "Solution(num_states=" + std::to_string(s.values.v.size()) +
               ", iterations=" + std::to_string(s.iterations) + ")";
      });

  m.def("value_iteration", &value_iteration, "model"_a, "gamma"_a, "tolerance"_a = 1e-11,
        nb::call_guard<nb::gil_scoped_release>(),
        "The optimal values by repeated Bellman updates. Needs gamma < 1.");
  m.def("policy_iteration", &policy_iteration, "model"_a, "gamma"_a,
        nb::call_guard<nb::gil_scoped_release>(), "The optimal values by policy iteration.");
  m.def(
      "evaluate_policy",
      [](const Model& model, const Policy& policy, double gamma) {
        const PolicyMatrix matrix = matrix_of(model, policy);
        Values values = [&] {
          const nb::gil_scoped_release release;
          return evaluate_policy(model, matrix, gamma);
        }();
        return pack(std::move(values), model.num_states());
      },
      "model"_a, "policy"_a, "gamma"_a, nb::sig(signature("evaluate_policy").c_str()),
      "Exact v and q of a policy, which is an action for every state or a probability for every "
      "state-action pair.");
  m.def(
      "start_value",
      [](const Model& model, const InVector<double>& v) {
        if (v.size() != model.num_states())
          throw Error(Errc::usage, "there must be one value for each state");
        return start_value(model, span_of(v));
      },
      "model"_a, "v"_a, "The mean of v over the start distribution.");
  m.def(
      "expected_mean_reward",
      [](const Model& model, const Policy& policy, std::uint32_t max_steps) {
        return expected_mean_reward(model, matrix_of(model, policy), max_steps);
      },
      "model"_a, "policy"_a, "max_steps"_a = 10'000,
      "The exact expectation of the mean reward per step of an episode, the paper's y axis.");
  m.def(
      "policy_matrix",
      [](const QTable& q, double epsilon) {
        return own(policy_matrix(q.behaviour(epsilon)).probability, q.num_states());
      },
      "q"_a, "epsilon"_a = 0.0,
      "Action probabilities of the epsilon-greedy policy. Tied actions share the probability.");
  m.def(
      "return_moments",
      [](const Model& model, const Policy& policy, double gamma) {
        ReturnMoments moments = return_moments(model, matrix_of(model, policy), gamma);
        return nb::make_tuple(own(std::move(moments.mean), model.num_states()),
                              own(std::move(moments.variance), model.num_states()));
      },
      "model"_a, "policy"_a, "gamma"_a, nb::sig(signature("return_moments").c_str()),
      "Exact mean and variance of the return of every state-action pair.");
}

}  // namespace hilo::python
