#include "python_simulator.hpp"

#include <cmath>

#include "hilo/core/random.hpp"
#include "hilo/env/bulk.hpp"
#include "hilo/experiment/train.hpp"
#include "live.hpp"

namespace hilo::python {
namespace {

// "ValueError: no such valve (plant.py:12, in step)": the innermost frame is the user's own.
std::string describe(nb::python_error& error) try {
  const nb::object type = nb::borrow(error.type());
  const nb::object value = nb::borrow(error.value());
  std::string text =
      nb::cast<std::string>(type.attr("__name__")) + ": " + nb::cast<std::string>(nb::str(value));
  nb::object frame = nb::borrow(error.traceback());
  if (!frame.is_valid() || frame.is_none()) return text;
  while (!frame.attr("tb_next").is_none()) frame = frame.attr("tb_next");
  const nb::object code = frame.attr("tb_frame").attr("f_code");
  const std::string file = nb::cast<std::string>(code.attr("co_filename"));
  return text + " (" + file.substr(file.rfind('/') + 1) + ":" +
         std::to_string(nb::cast<long>(frame.attr("tb_lineno"))) + ", in " +
         nb::cast<std::string>(code.attr("co_name")) + ")";
} catch (const std::exception&) {
  // An exception whose text cannot be had must not hide itself.
  return nb::cast<std::string>(nb::borrow(error.type()).attr("__name__"));
}

// Gymnasium asks for a seed that is not negative, and some environments for one below 2^31. A path
// that starts late in its stream has another one, so that its steps do not repeat the first.
std::uint32_t seed_of(const Stream& stream, std::uint32_t first_step) {
  return stream.block(first_step << 8)[0] >> 1;
}

class PythonEpisodes final : public EpisodeSimulator {
 public:
  explicit PythonEpisodes(std::shared_ptr<const PythonSource> source)
      : source_(std::move(source)) {}

  const PythonSource& source() const { return *source_; }
  std::size_t num_states() const override { return source_->num_states(); }
  std::size_t num_actions() const override { return source_->num_actions(); }

  void run_episode(const RolloutBatch& batch, Episode& episode) const override {
    check_batch(batch, num_states(), num_actions(), 1, 1);
    episode.truncated = source_->run(
        batch, 0, 0, nullptr, [&](State s) { episode.begin(s); },
        [&](Action a, double reward, State next) { episode.append(a, reward, next); });
  }

  void run_episodes(const RolloutBatch& batch, std::span<RolloutSummary> summaries) const override;

 private:
  std::shared_ptr<const PythonSource> source_;
};

RolloutSummary summarise(const PythonSource& source, const RolloutBatch& batch, std::uint32_t pair,
                         std::uint32_t rollout, const StateAction* start) {
  RolloutSummary summary;
  double discount = 1;
  summary.truncated = source.run(
      batch, pair, rollout, start, [](State) {},
      [&](Action, double reward, State) {
        summary.discounted_return += discount * reward;
        discount *= batch.gamma;
        summary.reward_sum += reward;
        ++summary.steps;
      });
  return summary;
}

void PythonEpisodes::run_episodes(const RolloutBatch& batch,
                                  std::span<RolloutSummary> summaries) const {
  check_batch(batch, num_states(), num_actions(), 1, summaries.size());
  std::uint32_t rollout = 0;
  for (RolloutSummary& summary : summaries)
    summary = summarise(*source_, batch, 0, rollout++, nullptr);
}

class PythonGenerative final : public Simulator {
 public:
  explicit PythonGenerative(std::shared_ptr<const PythonSource> source)
      : source_(source), episodes_(std::move(source)) {}

  const PythonSource& source() const { return *source_; }
  std::size_t num_states() const override { return source_->num_states(); }
  std::size_t num_actions() const override { return source_->num_actions(); }
  bool is_terminal(State s) const override { return source_->is_terminal(s); }
  double reward(State s, Action a, State next) const override {
    return source_->reward(s, a, next);
  }

  void run_episode(const RolloutBatch& batch, Episode& episode) const override {
    episodes_.run_episode(batch, episode);
  }
  void run_episodes(const RolloutBatch& batch, std::span<RolloutSummary> out) const override {
    episodes_.run_episodes(batch, out);
  }

  void roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                std::uint32_t rollouts, std::span<RolloutSummary> summaries) const override {
    check_batch(batch, num_states(), num_actions(), starts.size(), rollouts);
    if (summaries.size() != starts.size() * rollouts)
      throw Error(Errc::usage, "roll_out needs one summary for each start and roll-out");
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < starts.size(); ++i) {
      check(starts[i]);
      for (std::uint32_t j = 0; j < rollouts; ++j)
        summaries[out++] = summarise(*source_, batch, i, j, &starts[i]);
    }
  }

  void record(const RolloutBatch& batch, StateAction start, Episode& episode) const override {
    check_batch(batch, num_states(), num_actions(), 1, 1);
    check(start);
    episode.truncated = source_->run(
        batch, 0, 0, &start, [&](State s) { episode.begin(s); },
        [&](Action a, double reward, State next) { episode.append(a, reward, next); });
  }

 private:
  void check(StateAction start) const {
    require_within("start state", std::uint64_t{start.state}, 0, num_states() - 1, Errc::usage);
    require_within("start action", std::uint64_t{start.action}, 0, num_actions() - 1, Errc::usage);
  }

  std::shared_ptr<const PythonSource> source_;
  PythonEpisodes episodes_;
};

}  // namespace

RaisedByUser::RaisedByUser(nb::python_error& error)
    : Error(Errc::simulator, describe(error)),
      exception_(new nb::object(nb::borrow(error.value())), [](nb::object* object) {
        const nb::gil_scoped_acquire gil;
        delete object;
      }) {
  const nb::object traceback = nb::borrow(error.traceback());
  if (traceback.is_valid() && !traceback.is_none())
    PyException_SetTraceback(exception_->ptr(), traceback.ptr());
}

void RaisedByUser::restore() const {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception_->ptr())), exception_->ptr());
}

PythonSource::PythonSource(nb::object object, std::size_t num_states, std::size_t num_actions,
                           std::vector<State> terminal, std::string role)
    : object_(std::move(object)),
      num_states_(num_states),
      num_actions_(num_actions),
      role_(std::move(role)) {
  require_within("number of states", num_states, 1, kMaxTableSize, Errc::data);
  require_within("number of actions", num_actions, 1, kMaxTableSize / num_states, Errc::data);
  if (!terminal.empty()) terminal_.assign(num_states, 0);
  for (const State s : terminal) {
    require_within("terminal state", std::uint64_t{s}, 0, num_states - 1, Errc::data);
    terminal_[s] = 1;
  }
  live::add(this);
}

std::vector<State> PythonSource::terminal() const {
  std::vector<State> out;
  for (State s = 0; s < terminal_.size(); ++s)
    if (is_terminal(s)) out.push_back(s);
  return out;
}

// One episode at a time. A simulator that runs itself would wait for itself for ever.
class PythonSource::Entry {
 public:
  explicit Entry(const PythonSource& source) : source_(source) {
    if (source.owner_ == std::this_thread::get_id())
      throw Error(Errc::usage,
                  "a simulator in Python was asked for an episode from within its own");
    source.mutex_.lock();
    source.owner_ = std::this_thread::get_id();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    source_.owner_ = std::thread::id();
    source_.mutex_.unlock();
  }

 private:
  const PythonSource& source_;
};

PythonSource::~PythonSource() {
  live::remove(this);
  if (!Py_IsInitialized()) {
    object_.release();
    return;
  }
  const nb::gil_scoped_acquire gil;
  object_.reset();
}

State PythonSource::state_of(nb::handle value, const char* what) const {
  std::int64_t state = 0;
  if (!nb::try_cast(value, state))
    throw Error(Errc::simulator, std::string(what) + " is " +
                                     nb::cast<std::string>(nb::repr(value)) +
                                     ", but must be a whole number");
  if (state < 0 || static_cast<std::uint64_t>(state) >= num_states_)
    throw Error(Errc::simulator, std::string(what) + " is " + std::to_string(state) +
                                     ", but must be in [0, " + std::to_string(num_states_ - 1) +
                                     "]");
  return static_cast<State>(state);
}

PythonSource::Taken PythonSource::step(State s, Action a) const {
  const nb::object out = object_.attr("step")(a);
  const auto where = [&] {
    return role_ + ", state " + std::to_string(s) + ", action " + std::to_string(a) + ": ";
  };
  if (!nb::isinstance<nb::tuple>(out) || nb::len(out) != 4)
    throw Error(Errc::simulator, where() + "a step must be (next, reward, ended, cut)");
  Taken taken{state_of(out[0], (where() + "next state").c_str()), 0, false, false};
  if (!nb::try_cast(nb::object(out[1]), taken.reward) || !std::isfinite(taken.reward))
    throw Error(Errc::simulator, where() + "reward is " + nb::cast<std::string>(nb::repr(out[1])) +
                                     ", but must be a finite number");
  if (!nb::try_cast(nb::object(out[2]), taken.ended) ||
      !nb::try_cast(nb::object(out[3]), taken.cut))
    throw Error(Errc::simulator, where() + "whether the episode ended or was cut must be bools");
  return taken;
}

template <class Visit>
bool PythonSource::run(const RolloutBatch& batch, std::uint32_t pair, std::uint32_t rollout,
                       const StateAction* start, const std::function<void(State)>& begin,
                       Visit&& visit) const {
  if (start != nullptr && is_terminal(start->state)) {
    begin(start->state);
    return false;
  }
  const Stream stream(batch.seed, batch.purpose, batch.episode, batch.first_pair + pair,
                      batch.first_rollout + rollout);
  const Entry entry(*this);
  const nb::gil_scoped_acquire gil;
  try {
    State s = 0;
    if (start == nullptr) {
      s = state_of(object_.attr("reset")(seed_of(stream, batch.first_step)),
                   (role_ + ", the start state").c_str());
    } else {
      s = start->state;
      object_.attr("put")(s, seed_of(stream, batch.first_step));
    }
    if (start == nullptr && is_terminal(s))
      throw Error(Errc::simulator, role_ + ": the start state is " + std::to_string(s) +
                                       ", but that is among the terminal ones");
    begin(s);
    for (std::uint32_t t = 0; t < batch.max_steps; ++t) {
      Rng rng = Rng::of_step(stream, batch.first_step + t + 1);
      const std::uint32_t explore_word = rng.u32();
      const std::uint32_t action_word = rng.u32();
      const Action a = t == 0 && start != nullptr
                           ? start->action
                           : batch.behaviour.choose(s, explore_word, action_word);
      if (live::must_stop()) throw Interrupted();
      const Taken taken = step(s, a);
      visit(a, taken.reward, taken.next);
      if (taken.ended || is_terminal(taken.next)) return false;
      if (taken.cut) return true;
      s = taken.next;
    }
    return true;
  } catch (nb::python_error& error) {
    throw RaisedByUser(error);
  }
}

double PythonSource::reward(State s, Action a, State next) const {
  const Entry entry(*this);
  const nb::gil_scoped_acquire gil;
  try {
    const nb::object out = object_.attr("reward")(s, a, next);
    double reward = 0;
    if (!nb::try_cast(out, reward) || !std::isfinite(reward))
      throw Error(Errc::simulator,
                  role_ + ": the reward of state " + std::to_string(s) + ", action " +
                      std::to_string(a) + ", next " + std::to_string(next) + " is " +
                      nb::cast<std::string>(nb::repr(out)) + ", but must be a finite number");
    return reward;
  } catch (nb::python_error& error) {
    throw RaisedByUser(error);
  }
}

void bind_python_simulator(nb::module_& m) {
  const char* doc =
      "A simulator written in Python, as the engine sees it. Made by hilo.pair and "
      "hilo.train.";
  nb::class_<PythonEpisodes, EpisodeSimulator>(m, "PythonEpisodes", doc)
      .def(
          "__init__",
          [](PythonEpisodes* self, nb::object source, std::size_t num_states,
             std::size_t num_actions, std::vector<State> terminal) {
            new (self) PythonEpisodes(std::make_shared<const PythonSource>(
                std::move(source), num_states, num_actions, std::move(terminal), "high fidelity"));
          },
          "source"_a, "num_states"_a, "num_actions"_a, "terminal"_a = std::vector<State>{})
      .def_prop_ro(
          "source", [](const PythonEpisodes& self) { return self.source().object(); },
          "The object that answers.")
      .def("__reduce__", [](nb::handle self) {
        const auto& simulator = nb::cast<const PythonEpisodes&>(self);
        return nb::make_tuple(
            self.type(), nb::make_tuple(simulator.source().object(), simulator.num_states(),
                                        simulator.num_actions(), simulator.source().terminal()));
      });
  nb::class_<PythonGenerative, Simulator>(m, "PythonSimulator", doc)
      .def(
          "__init__",
          [](PythonGenerative* self, nb::object source, std::size_t num_states,
             std::size_t num_actions, std::vector<State> terminal) {
            new (self) PythonGenerative(std::make_shared<const PythonSource>(
                std::move(source), num_states, num_actions, std::move(terminal), "low fidelity"));
          },
          "source"_a, "num_states"_a, "num_actions"_a, "terminal"_a = std::vector<State>{})
      .def_prop_ro(
          "source", [](const PythonGenerative& self) { return self.source().object(); },
          "The object that answers.")
      .def("__reduce__", [](nb::handle self) {
        const auto& simulator = nb::cast<const PythonGenerative&>(self);
        return nb::make_tuple(
            self.type(), nb::make_tuple(simulator.source().object(), simulator.num_states(),
                                        simulator.num_actions(), simulator.source().terminal()));
      });
}

}  // namespace hilo::python
