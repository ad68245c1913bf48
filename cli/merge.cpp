#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::vector<std::string> stores;
  std::string into;
  bool skip_damaged = false, json = false;
};

int run(const Options& options) {
  // All stores are opened first, so that a bad one is found before anything is written.
  const Damaged damaged = options.skip_damaged ? Damaged::leave_out : Damaged::stop;
  std::vector<Store> sources;
  for (const std::string& store : options.stores) {
    if (std::filesystem::exists(options.into) && std::filesystem::exists(store) &&
        std::filesystem::equivalent(store, options.into))
      throw Error(Errc::usage, fmt::format("{} is to be merged into itself", store));
    sources.push_back(Store::open_to_read(store, damaged));
  }
  const StopOnSignal stop;
  Store into = Store::open(options.into);
  MergeOutcome outcome;
  try {
    outcome = into.merge(sources, damaged, [] { return !stop_requested; });
  } catch (const Error&) {
    into.discard_if_new();  // a failed merge leaves nothing behind, not even an empty store
    if (stop_requested) return kInterrupted;
    throw;
  }
  const std::size_t all = into.finished().size();
  const std::string note = into.close();
  if (options.json) {
    const nlohmann::json out = {{"store", options.into},
                                {"runs", all},
                                {"added", outcome.added},
                                {"left_out", outcome.left_out},
                                {"note", note}};
    fmt::print("{}\n", json_text(out));
    return 0;
  }
  for (const std::string& run : outcome.left_out) fmt::print("left out, damaged: {}\n", run);
  fmt::print("{}: {} runs added, {} in all\n", options.into, outcome.added, all);
  if (!note.empty()) fmt::print("note: {}\n", note);
  return 0;
}

}  // namespace

Handler add_merge(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->stores, "stores to read").required();
  app.add_option("--into", options->into, "store to add them to; created if it does not exist")
      .required();
  app.add_flag("--skip-damaged", options->skip_damaged, "leave out what is damaged, and name it");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo merge monday.db tuesday.db --into week.db");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
