#include "env_episodes.hpp"

namespace hilo::python {

void bind_episodes(nb::module_& m) {
  const auto make = [](Episode* self, const Indices& states, const Indices& actions,
                       std::span<const double> rewards, bool truncated) {
    if (states.size() != actions.size() + 1 || rewards.size() != actions.size())
      throw Error(Errc::data, "an episode of n actions has n rewards and n + 1 states");
    new (self) Episode{.states = {states.data(), states.data() + states.size()},
                       .actions = {actions.data(), actions.data() + actions.size()},
                       .rewards = {rewards.begin(), rewards.end()},
                       .truncated = truncated};
  };
  nb::class_<Episode>(m, "Episode",
                      "The states s_0 ... s_T, the actions and the rewards of one episode.")
      .def(
          "__init__",
          [make](Episode* self, const Indices& states, const Indices& actions,
                 const InVector<double>& rewards,
                 bool truncated) { make(self, states, actions, span_of(rewards), truncated); },
          "states"_a, "actions"_a, "rewards"_a, "truncated"_a = false)
      .def(
          "__init__",
          [make](Episode* self, const Indices& states, const Indices& actions,
                 const std::vector<double>& rewards,
                 bool truncated) { make(self, states, actions, rewards, truncated); },
          "states"_a, "actions"_a, "rewards"_a, "truncated"_a = false)
      .def_prop_ro(
          "states",
          [](nb::handle self) { return view<State>(nb::cast<const Episode&>(self).states, self); },
          "The states, one more than there are actions.", nb::rv_policy::reference)
      .def_prop_ro(
          "actions",
          [](nb::handle self) {
            return view<Action>(nb::cast<const Episode&>(self).actions, self);
          },
          "The action of every step.", nb::rv_policy::reference)
      .def_prop_ro(
          "rewards",
          [](nb::handle self) {
            return view<double>(nb::cast<const Episode&>(self).rewards, self);
          },
          "The reward of every step.", nb::rv_policy::reference)
      .def_ro("truncated", &Episode::truncated, "Whether it was truncated before its end.")
      .def("__len__", &Episode::length)
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(),
                                   nb::make_tuple(self.attr("states"), self.attr("actions"),
                                                  self.attr("rewards"), self.attr("truncated")));
           })
      .def("__repr__", [](const Episode& episode) {
        double sum = 0;
        for (const double r : episode.rewards) sum += r;
        return "Episode(length=" + std::to_string(episode.length()) +
               ", reward_sum=" + std::to_string(sum) + (episode.truncated ? ", truncated)" : ")");
      });

  nb::class_<Summaries>(m, "RolloutSummaries",
                        "The results of many roll-outs, without their paths.")
      .def_prop_ro(
          "discounted_return",
          [](const Summaries& s) {
            return own(s.column<double>([](const auto& x) { return x.discounted_return; }));
          },
          "Discounted return of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "reward_sum",
          [](const Summaries& s) {
            return own(s.column<double>([](const auto& x) { return x.reward_sum; }));
          },
          "Sum of the rewards of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "steps",
          [](const Summaries& s) {
            return own(s.column<std::uint32_t>([](const auto& x) { return x.steps; }));
          },
          "Length of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "truncated",
          [](const Summaries& s) {
            return own(s.column<std::uint8_t>([](const auto& x) { return x.truncated; }));
          },
          "1 for each that was truncated.", nb::rv_policy::reference)
      .def("__len__", [](const Summaries& s) { return s.all.size(); })
      .def("__repr__", [](const Summaries& s) {
        return "RolloutSummaries(" + std::to_string(s.all.size()) + ")";
      });
}

}  // namespace hilo::python
