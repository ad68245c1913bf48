#include "hilo/report/problem_view.hpp"

#include <map>

#include "hilo/core/error.hpp"
#include "hilo/report/docking_report.hpp"
#include "hilo/report/search_report.hpp"

namespace hilo {
namespace {

std::map<std::string, ProblemView>& views() {
  static std::map<std::string, ProblemView> all = [] {
    std::map<std::string, ProblemView> built_in;
    for (const ProblemView& view : {docking_view(), search_view()}) built_in[view.kind] = view;
    return built_in;
  }();
  return all;
}

}  // namespace

const ProblemView& problem_view(const std::string& kind) {
  static const ProblemView kNone;
  const auto found = views().find(kind);
  return found == views().end() ? kNone : found->second;
}

void add_problem_view(ProblemView view) {
  const std::string kind = view.kind;
  if (!views().try_emplace(kind, std::move(view)).second)
    throw Error(Errc::usage, "there is a view of the problem kind '" + kind + "' already");
}

}  // namespace hilo
