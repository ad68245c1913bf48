#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "hilo/core/error.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::vector<std::string> stores;
  std::string into;
  bool json = false;
};

int run(const Options& options) {
  // All are opened first, so that a bad one is found before anything is written.
  std::vector<Store> sources;
  for (const std::string& store : options.stores) {
    if (std::filesystem::exists(options.into) && std::filesystem::exists(store) &&
        std::filesystem::equivalent(store, options.into))
      throw Error(Errc::usage, fmt::format("{} is to be merged into itself", store));
    sources.push_back(Store::open_to_read(store));
  }
  const bool existed = std::filesystem::exists(options.into);
  std::size_t before = 0;
  std::size_t after = 0;
  try {
    Store into = Store::open(options.into);
    before = into.finished().size();
    into.merge(sources);
    after = into.finished().size();
  } catch (const Error&) {
    // All or nothing: not even an empty store.
    std::error_code ignored;
    if (!existed) std::filesystem::remove(options.into, ignored);
    throw;
  }
  if (options.json)
    fmt::print(
        "{}\n",
        nlohmann::json{{"store", options.into}, {"runs", after}, {"added", after - before}}.dump(
            2));
  else
    fmt::print("{}: {} runs added, {} in all\n", options.into, after - before, after);
  return 0;
}

}  // namespace

Handler add_merge(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->stores, "stores to read")->required();
  app.add_option("--into", options->into, "store to add them to; made if there is none")
      ->required();
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo merge monday.db tuesday.db --into week.db");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
