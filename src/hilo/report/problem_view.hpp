#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/report/table.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// What a report shows for problems of one kind, in addition to what it shows for all. Every part
// may be left out.
struct ProblemView {
  std::string kind;
  // Results in the terms of the problem's field, and a sentence about them in Markdown.
  std::function<Table(const Results&)> table = {};
  std::function<std::string(const Results&)> sentence = {};
  // Why the agents reach their final levels.
  std::function<std::vector<std::string>(const Results&, const Analysis&)> explanation = {};
  // Pictures as HTML: `picture` follows the table, `policies` the explanation.
  std::function<std::string(const Results&)> picture = {};
  std::function<std::string(const Store&, const Results&)> policies = {};
};

// The view of a kind; an empty view if the kind has none.
const ProblemView& problem_view(const std::string& kind);
// Adds the view of a kind. Throws if the kind already has one. Must be called before any report is
// made.
void add_problem_view(ProblemView view);

}  // namespace hilo
