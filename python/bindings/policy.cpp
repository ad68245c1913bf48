#include "hilo/policy/q_table.hpp"

#include "bindings.hpp"

namespace hilo::python {
namespace {

std::pair<State, Action> checked(const QTable& q,
                                 const std::pair<std::uint64_t, std::uint64_t>& at) {
  require_within("state", at.first, 0, q.num_states() - 1, Errc::usage);
  require_within("action", at.second, 0, q.num_actions() - 1, Errc::usage);
  return {static_cast<State>(at.first), static_cast<Action>(at.second)};
}

}  // namespace

void bind_policy(nb::module_& m) {
  nb::class_<QTable>(
      m, "QTable",
      "The values of all state-action pairs, with the greedy actions kept up to date. "
      "It is also the greedy policy.")
      .def(nb::init<std::size_t, std::size_t>(), "num_states"_a, "num_actions"_a)
      .def_static(
          "from_values",
          [](const InMatrix<double>& values) {
            QTable q(values.shape(0), values.shape(1));
            q.assign({values.data(), values.size()});
            return q;
          },
          "values"_a, "Makes a table from an array of shape (num_states, num_actions).")
      .def_prop_ro("num_states", &QTable::num_states, "Number of states.")
      .def_prop_ro("num_actions", &QTable::num_actions, "Number of actions.")
      .def_prop_ro(
          "values",
          [](nb::handle self) {
            const auto& q = nb::cast<const QTable&>(self);
            return view<double>(q.values(), q.num_states(), self);
          },
          "All values, of shape (num_states, num_actions): a view, not a copy.",
          nb::rv_policy::reference)
      .def("__getitem__",
           [](const QTable& q, std::pair<std::uint64_t, std::uint64_t> at) {
             const auto [s, a] = checked(q, at);
             return q(s, a);
           })
      .def("__setitem__",
           [](QTable& q, std::pair<std::uint64_t, std::uint64_t> at, double value) {
             const auto [s, a] = checked(q, at);
             q.set(s, a, value);
           })
      .def(
          "greedy_actions",
          [](const QTable& q, std::uint64_t state) {
            require_within("state", state, 0, q.num_states() - 1, Errc::usage);
            const auto actions = q.greedy_actions(static_cast<State>(state));
            return std::vector<Action>(actions.begin(), actions.end());
          },
          "state"_a, "The best actions of a state: more than one if there are ties.")
      .def_prop_ro(
          "greedy",
          [](const QTable& q) {
            std::vector<Action> out(q.num_states());
            for (State s = 0; s < out.size(); ++s) out[s] = q.greedy_actions(s)[0];
            return own(std::move(out));
          },
          "The first of the best actions of every state.", nb::rv_policy::reference)
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(rebuild("q_table"), nb::make_tuple(self.attr("values")));
           })
      .def("__repr__", [](const QTable& q) {
        return "QTable(num_states=" + std::to_string(q.num_states()) +
               ", num_actions=" + std::to_string(q.num_actions()) + ")";
      });
}

}  // namespace hilo::python
