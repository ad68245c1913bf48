#pragma once

#include <span>
#include <string>

#include "hilo/report/results.hpp"
#include "hilo/report/table.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// The probability that the greedy action is the best one, if the true values of the actions are
// independent and normally distributed around their estimates with these standard errors. An action
// whose error is unknown (infinite) is better than the greedy one with probability 1/2. If the
// error of the greedy action itself is unknown, the result is 1 / number of actions.
double greedy_is_right(std::span<const double> values, std::span<const double> errors);

// How certain every agent is of its greedy actions, compared with how often they are optimal; empty
// if the store has no standard errors.
Table sureness_table(const Store& store, const Results& results);

// The action values of one state with 95 % error bars, one inline SVG for each of up to six agents.
// Empty if the store has no standard errors.
std::string value_bars(const Store& store, const Results& results);

}  // namespace hilo
