#pragma once

#include <span>
#include <string>

#include "hilo/report/results.hpp"
#include "hilo/report/table.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// The chance that the greedy action is the best one, if the actions' values are independent and
// normal around their estimates with these standard errors. An error that is not known makes the
// action one that is as likely better as not.
double greedy_is_right(std::span<const double> values, std::span<const double> errors);

// How sure every agent is of its greedy actions, beside how often they are optimal; empty if the
// store has no standard errors.
Table sureness_table(const Store& store, const Results& results);

// The values of one state with 95 % error bars, an inline SVG for each of the first agents; "" if
// the store has no standard errors.
std::string value_bars(const Store& store, const Results& results);

}  // namespace hilo
