#include "hilo/experiment/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/text.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/experiment/detail/spec_configs.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"
#include "hilo/experiment/detail/spec_toml.hpp"
#include "hilo/experiment/metrics.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kMaxSeeds = 1'000'000;
constexpr std::uint64_t kLargestSeed = 0x7fffffffffffffffULL;

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

void check_name(const std::string& name, const std::string& where) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.size() > 100 || !std::ranges::all_of(name, allowed))
    fail(
        fmt::format("{}: name is '{}', but must be 1 to 100 letters a-z, A-Z, digits, '-', '_' "
                    "and '.'",
                    where, name.substr(0, 100)));
}

std::shared_ptr<const ProblemKind> find_problem_kind(
    const std::string& name, const std::shared_ptr<const ProblemKind>& own) {
  if (own && own->name == name) return own;
  // Registered kinds live as long as the program.
  return {std::shared_ptr<const ProblemKind>(), &problem_kind(name)};
}

void check_train(const Parameters& train, const Parameters& test, const std::string& where) {
  if ((train.integer("episodes") == 0) == (train.integer("steps") == 0))
    fail(fmt::format("{}: train: give episodes or steps, one of the two, above 0", where));
  const std::int64_t episodes = train.integer("episodes");
  if (episodes > 0 && train.integer("pilot_episodes") > episodes)
    fail(fmt::format("{}: train: pilot_episodes is {}, but must be at most episodes, {}", where,
                     train.integer("pilot_episodes"), episodes));
  const std::int64_t exact_every = test.integer("exact_every");
  if (exact_every % test.integer("every") != 0)
    fail(fmt::format("{}: test: exact_every is {}, but must be a multiple of every, {}", where,
                     exact_every, test.integer("every")));
}

void check_seeds(const SeedRange& seeds, const std::string& where) {
  if (seeds.last < seeds.first || seeds.last - seeds.first >= kMaxSeeds)
    fail(fmt::format("{}: seeds are {} to {}, but must be a rising range of at most {}", where,
                     seeds.first, seeds.last, kMaxSeeds));
  if (seeds.last > kLargestSeed) fail(fmt::format("{}: seed {} is too large", where, seeds.last));
}

// Spaces in a list of metrics must not make a different configuration.
NamedValues with_normal_metrics(NamedValues test) {
  if (const auto found = test.find("metrics"); found != test.end())
    if (auto* list = std::get_if<std::string>(&found->second)) *list = normal_form(*list);
  return test;
}

// Names and texts are written to files and shown on screens, so they must be plain text.
void check_texts(const SpecTable& table, const std::string& where) {
  const auto check = [&](const std::string& key, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (!is_plain_text(key) || (text != nullptr && !is_plain_text(*text)))
      fail(fmt::format("{}: {} must be UTF-8 without control characters", where, key));
  };
  for (const auto& [key, value] : table.values) check(key, value);
  for (const auto& [key, values] : table.sweep)
    for (const Value& value : values) check("sweep." + key, value);
}

void check_texts(const SpecData& data, const std::string& where) {
  check_texts(data.problem, where + ": problem");
  check_texts(data.train, where + ": train");
  check_texts(data.test, where + ": test");
  for (std::size_t i = 0; i < data.agents.size(); ++i)
    check_texts(data.agents[i], fmt::format("{}: agent {}", where, i + 1));
}

// The text that is kept of a spec should not reveal where the user's files are.
SpecData without_folders(SpecData data, const ProblemKind& kind) {
  for (const std::string& key : kind.file_parameters)
    if (const auto found = data.problem.values.find(key); found != data.problem.values.end())
      if (auto* text = std::get_if<std::string>(&found->second))
        *text = std::filesystem::path(*text).filename().string();
  return data;
}

}  // namespace

Spec make_spec(const SpecData& data, const std::string& where,
               const std::shared_ptr<const ProblemKind>& own) {
  check_texts(data, where);
  check_seeds(data.seeds, where);
  SpecTable problem = data.problem;
  const std::string kind = take_text(problem.values, "kind", where + ": problem");
  for (const auto& [key, table] : {std::pair("train", &data.train), std::pair("test", &data.test)})
    if (!table->sweep.empty())
      fail(fmt::format("{}: {}: only problem and agents can be swept", where, key));
  const SpecCommon common = {
      .where = where,
      .problem_kind = in_place(where + ": problem", [&] { return find_problem_kind(kind, own); }),
      .problems = expand(problem, where + ": problem"),
      .train = Parameters(where + ": train", train_parameters(), data.train.values),
      .test =
          Parameters(where + ": test", test_parameters(), with_normal_metrics(data.test.values)),
  };
  check_train(common.train, common.test, where);
  in_place(where + ": test: metrics", [&] { metrics_to_measure(common.test.text("metrics")); });
  check_name(data.name, where);
  if (data.agents.empty()) fail(fmt::format("{}: there must be at least one [[agent]]", where));
  Spec spec{.name = data.name,
            .seeds = data.seeds,
            .configs = {},
            .text = to_toml(without_folders(data, *common.problem_kind)),
            .notes = {}};
  add_configs(common, data.agents, spec);
  return spec;
}

SeedRange parse_seeds(std::string_view text) {
  const auto number = [&](std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      fail(fmt::format("seeds is '{}', but must be a number such as 36 or a range such as 0..35",
                       text));
    return value;
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const std::uint64_t count = number(text);
    require_within("seeds", count, 1, kMaxSeeds);
    return {0, count - 1};
  }
  const SeedRange range = {number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.last < range.first || range.last - range.first >= kMaxSeeds)
    fail(fmt::format("seeds is '{}', but must be a rising range of at most {} seeds", text,
                     kMaxSeeds));
  if (range.last > kLargestSeed) fail(fmt::format("seeds is '{}': too large", text));
  return range;
}

Spec parse_spec(std::string_view text, const std::string& where, const Overrides& overrides,
                const std::shared_ptr<const ProblemKind>& own) {
  toml::table root = parse_toml(text, where, overrides);
  try {
    Spec spec = make_spec(read_spec(root, where), where, own);
    // The user's own text is kept, unless it had to be changed.
    spec.text = text;
    if (shorten_paths(root, *spec.configs[0].problem_kind) || !overrides.empty()) {
      std::ostringstream out;
      out << root << "\n";
      spec.text = out.str();
    }
    return spec;
  } catch (const Error& e) {
    throw Error(e.code(), with_line(root, where, e.what()));
  }
}

Spec load_spec(const std::filesystem::path& file, const Overrides& overrides) {
  const std::string text = read_text_file(file, kMaxSpecBytes, Errc::spec);
  if (text.empty())
    fail(fmt::format("{}: is empty; docs/usage.md describes what a spec has", file.string()));
  return parse_spec(text, file.string(), overrides);
}

}  // namespace hilo
