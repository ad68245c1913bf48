#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/report/table.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// What a report shows of problems of one kind beside what it shows of all. Any of it may be left
// out.
struct ProblemView {
  std::string kind;
  // What people of its field want to know, and the same in a sentence for Markdown.
  std::function<Table(const Results&)> table = {};
  std::function<std::string(const Results&)> sentence = {};
  // Why agents end where they do.
  std::function<std::vector<std::string>(const Results&, const Analysis&)> explanation = {};
  // Pictures as HTML: one beside the table, and one beside the explanation.
  std::function<std::string(const Results&)> picture = {};
  std::function<std::string(const Store&, const Results&)> policies = {};
};

// That of a kind; one that shows nothing where there is none.
const ProblemView& problem_view(const std::string& kind);
// Adds one for a kind that has none. Before anything is reported.
void add_problem_view(ProblemView view);

}  // namespace hilo
