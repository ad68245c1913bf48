#include "hilo/report/figure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "hilo/report/colours.hpp"
#include "hilo/report/detail/gnuplot.hpp"
#include "hilo/report/page.hpp"
#include "support/expect_error.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// A store with one agent for each label. They share their runs, so that only the labels differ.
Store store_of_labels(const fs::path& file, const std::vector<std::string>& labels,
                      const std::string& kind = "mcrl") {
  Spec spec = parse_spec(testing::tiny_spec(), "tiny", {"agent.1.kind=" + kind});
  spec.configs.resize(labels.size(), spec.configs[0]);
  for (std::size_t i = 0; i < labels.size(); ++i) spec.configs[i].label = labels[i];
  return testing::filled_store(
      file, spec, [](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
        if (agent > 0) return {};
        const double value = 0.1 * static_cast<double>(seed + 1);
        return {{0, "test_reward", 0},
                {10, "test_reward", value},
                {10, "correlation", value},
                {10, "variance_ratio_last_1000", 1 - value}};
      });
}

// As an SVG has a text.
std::string in_svg(const std::string& text) {
  std::string out = ">";
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out + "<";
}

class WithVariable {
 public:
  WithVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~WithVariable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~InFolder() { fs::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  fs::path before_;
};

TEST(Figure, LabelsComeOutAsTheyAre) {
  const std::vector<std::string> labels = {
      "10% noise", "%d %s %%", "'plus'", "''",        "\"quoted\"", "back\\slash",
      "\\7 \\n",   "`7 tick`", "@macro", "_sub_{x}",  "x^2",        "a & b",
      "$cost$",    "-x",       "# no",   "ρ² 日本",   "<b>",        "a;b",
      "~{a}",      "|pipe",    "end\\",  "a, \"b\" 1"};
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", labels);
  const Results results(store, "tiny");
  for (const FigureKind kind : {FigureKind::learning, FigureKind::ratios}) {
    const auto files = draw_figure(results, kind, true, folder.path());
    const std::string svg = testing::read_text(files[0]);
    for (const std::string& label : labels)
      EXPECT_NE(svg.find(in_svg(label)), std::string::npos) << label << " in " << files[0];
  }
}

// Names of experiments stand in titles and in names of files, those of metrics on an axis.
TEST(Figure, NamesOfExperimentsAndMetricsComeOutAsTheyAre) {
  const std::string name = "-10%d 'a' \"b\" $c @d";
  const std::string metric = "50% of_{it}'s";
  const TemporaryFolder folder;
  Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  spec.name = name;
  const Store store = testing::filled_store(
      folder.path() / "x.db", spec, [&](std::size_t, std::uint64_t) -> std::vector<Measurement> {
        return {{0, metric, 0}, {10, metric, 1}};
      });
  const auto files = draw_curves(Results(store, name), metric, folder.path(), name);
  EXPECT_EQ(files[0], folder.path() / (name + ".svg"));
  for (const auto& file : files) EXPECT_GT(fs::file_size(file), 1000U) << file;
  const std::string svg = testing::read_text(files[0]);
  EXPECT_NE(svg.find(">" + name + ": mean"), std::string::npos);
  EXPECT_NE(svg.find(in_svg(metric)), std::string::npos);
}

TEST(Figure, LongLabelsLoseTheirMiddle) {
  EXPECT_EQ(fit_figure("short"), "short");
  const std::string most(44, 'x');
  EXPECT_EQ(fit_figure(most), most);
  std::string umlauts;
  for (int i = 0; i < 44; ++i) umlauts += "ü";
  EXPECT_EQ(fit_figure(umlauts), umlauts);  // characters count, not bytes
  EXPECT_EQ(fit_figure("first" + most + umlauts + "last"),
            "first" + std::string(17, 'x') + "…" + umlauts.substr(0, 34) + "last");
  const TemporaryFolder folder;
  const Store store =
      store_of_labels(folder.path() / "x.db", {"one" + std::string(20'000, 'y') + "end", "two"});
  EXPECT_EQ(draw_figure(Results(store, "tiny"), FigureKind::ratios, true, folder.path()).size(),
            3U);
}

TEST(Figure, NeitherSettingsNorEnvironmentChangeIt) {
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", {"a", "b"});
  const Results results(store, "tiny");
  const auto plain = draw_figure(results, FigureKind::learning, true, folder.path() / "plain");
  folder.write("home/.gnuplot",
               "set title 'mine'\nunset key\nset terminal dumb\nset xrange [5:6]\n");
  const WithVariable home("HOME", (folder.path() / "home").string());
  const WithVariable terminal("GNUTERM", "nonsense");
  const WithVariable library("GNUPLOT_LIB", "/nowhere");
  const WithVariable font("GNUPLOT_DEFAULT_GDFONT", "nonsense");
  const auto other = draw_figure(results, FigureKind::learning, true, folder.path() / "other");
  EXPECT_EQ(testing::read_text(plain[0]), testing::read_text(other[0]));
}

TEST(Figure, FoldersMayLookLikeFlags) {
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", {"a"});
  const InFolder there(folder.path());
  for (const char* name : {"-x", "-", "--help", "$HOME", "a b'c"}) {
    const auto files = draw_figure(Results(store, "tiny"), FigureKind::learning, true, name);
    ASSERT_EQ(files.size(), 3U);
    for (const auto& file : files) EXPECT_GT(fs::file_size(file), 1000U) << file;
  }
}

TEST(Figure, ScriptsWriteBesideThemselvesFromAnyFolder) {
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", {"a"});
  const InFolder there(folder.path());
  const auto files = draw_figure(Results(store, "tiny"), FigureKind::learning, true, "drawn here");
  // Moved and called from elsewhere, with a name of its own.
  fs::rename("drawn here", "moved ü");
  for (const auto& file : files) fs::remove("moved ü" / file.filename());
  const std::string script = (folder.path() / "moved ü" / "tiny.gnuplot").string();
  ASSERT_EQ(std::system(("cd / && gnuplot '" + script + "'").c_str()), 0);
  for (const auto& file : files) EXPECT_TRUE(fs::exists("moved ü" / file.filename())) << file;
}

TEST(Figure, AFailureIsNamedAndLeavesNothingHalfDrawn) {
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", {"a"});
  folder.write("tiny.pdf/in-the-way", "");
  testing::expect_error(
      [&] { draw_figure(Results(store, "tiny"), FigureKind::learning, true, folder.path()); },
      Errc::io, {"tiny.gnuplot: gnuplot failed", "line ", "cannot open file"});
  EXPECT_FALSE(fs::exists(folder.path() / "tiny.svg"));
  EXPECT_FALSE(fs::exists(folder.path() / "tiny.png"));
}

// With vectors, where episodes are few and most is learnt in the first ones, the axis is
// logarithmic and has a place for the value before the first episode.
TEST(Figure, OfVectorsHasALogarithmicAxisOfEpisodesWithAPlaceForNone) {
  const auto store_of = [](const fs::path& file, const std::string& text) {
    return testing::filled_store(file, parse_spec(text, "spec"),
                                 [](std::size_t, std::uint64_t seed) -> std::vector<Measurement> {
                                   const double value = 0.1 * static_cast<double>(seed + 1);
                                   return {{0, "test_return", -7},
                                           {1, "test_return", value},
                                           {10, "test_return", 2 * value}};
                                 });
  };
  const std::string vectors =
      "spec_version = 1\nname = \"tiny\"\nseeds = 3\n[problem]\nkind = \"cart-pole\"\n[train]\n"
      "episodes = 10\ngamma = 1\n[test]\nevery = 1\nepisodes = 5\n[[agent]]\nkind = \"low-only\"\n";
  const TemporaryFolder folder;
  const Store few = store_of(folder.path() / "few.db", vectors);
  const Store many = store_of(folder.path() / "many.db", testing::tiny_spec());
  EXPECT_TRUE(Results(few, "tiny").has_vectors());
  EXPECT_FALSE(Results(many, "tiny").has_vectors());

  const auto script_of = [&](const Store& store) {
    const Results results(store, "tiny");
    draw_curves(results, "test_return", folder.path(), "tiny");
    EXPECT_GT(fs::file_size(folder.path() / "tiny.png"), 1000U);
    return testing::read_text(folder.path() / "tiny.gnuplot");
  };
  const std::string script = script_of(few);
  EXPECT_NE(script.find("set logscale x"), std::string::npos);
  EXPECT_NE(script.find("set xtics ('0' 0.5, 1, 2, 3, 5, 10)"), std::string::npos) << script;
  EXPECT_NE(script.find("\n0.5 -7 "), std::string::npos);
  const std::string usual = script_of(many);
  EXPECT_EQ(usual.find("logscale"), std::string::npos);
  EXPECT_NE(usual.find("\n0 -7 "), std::string::npos);

  const auto page_of = [](const Store& store) {
    return make_page(store,
                     {.store = "x", .command = "", .date = "", .experiments = store.experiments()});
  };
  const std::string page = page_of(few);
  EXPECT_NE(page.find("\"beforeFirst\":0.5"), std::string::npos);
  EXPECT_NE(page.find("<option value=\"log\">logarithmic</option><option value=\"linear\">"),
            std::string::npos);
  EXPECT_EQ(page_of(many).find("\"beforeFirst\""), std::string::npos);
}

// Variants are known by their keys and the baseline by its kind, whatever their labels.
TEST(Colours, FollowTheOrderOfAgents) {
  const TemporaryFolder folder;
  std::string agents;
  const auto add = [&](const std::string& label, const std::string& keys) {
    agents += "[[agent]]\nlabel = \"" + label + "\"\n" + keys + "\n";
  };
  add("a", "kind = \"mfmcrl\"\nvariant = \"as-published\"");
  add("b", "kind = \"mfmcrl\"\nvariant = \"as-written\"");
  add("c", "kind = \"mfmcrl\"\nvariant = \"as-written\"\nlow_rollouts = 3");
  add("c again", "kind = \"mfmcrl\"\nlow_rollouts = 3");
  for (const char* label : {"d as-written", "e", "f", "g", "h"})
    add(label, "kind = \"mfmcrl\"\nestimator = \"finite-m\"");
  const Spec spec = parse_spec(testing::tiny_spec(agents), "tiny");
  const Store with = testing::filled_store(
      folder.path() / "x.db", spec,
      [](std::size_t, std::uint64_t) -> std::vector<Measurement> { return {}; });
  const AgentColours colours(Results(with, "tiny"));
  EXPECT_EQ(colours.colour("MCRL"), std::string("#000000"));
  EXPECT_EQ(colours.place("a"), 1U);
  EXPECT_EQ(colours.place("b"), 1U);  // variants of one agent share it
  EXPECT_FALSE(colours.is_dashed("a"));
  EXPECT_TRUE(colours.is_dashed("b"));
  EXPECT_EQ(colours.place("c"), 2U);
  EXPECT_TRUE(colours.is_dashed("c"));
  EXPECT_EQ(colours.place("c again"), 3U);  // a label of its own
  EXPECT_EQ(colours.place("d as-written"), 4U);
  EXPECT_FALSE(colours.is_dashed("d as-written"));  // it only says so
  EXPECT_EQ(colours.place("g"), 7U);
  EXPECT_FALSE(colours.is_dashed("g"));
  EXPECT_EQ(colours.place("h"), 8U);  // the colours start again
  EXPECT_EQ(colours.colour("h"), colours.colour("MCRL"));
  EXPECT_TRUE(colours.is_dashed("h"));
  EXPECT_EQ(colours.first_free(), 9U);
  // Without a baseline its colour stays unused.
  const Store renamed = store_of_labels(folder.path() / "y.db", {"a", "b"});
  EXPECT_EQ(AgentColours(Results(renamed, "tiny")).place("a"), 0U);
  EXPECT_EQ(baseline_of(Results(renamed, "tiny")), "a");
  const Store without = store_of_labels(folder.path() / "z.db", {"a", "b"}, "q-learning");
  EXPECT_EQ(AgentColours(Results(without, "tiny")).place("a"), 1U);
}

TEST(Colours, AreTheSameOnThePageAndInFigures) {
  const std::vector<std::string> labels = {"m=10", "m=2", "m=1 as-written", "x"};
  const TemporaryFolder folder;
  const Store store = store_of_labels(folder.path() / "x.db", labels);
  const Results results(store, "tiny");
  const AgentColours colours(results);
  draw_figure(results, FigureKind::learning, true, folder.path());
  const std::string script = testing::read_text(folder.path() / "tiny.gnuplot");
  const std::string page = make_page(
      store, {.store = "x", .command = "", .date = "", .experiments = store.experiments()});
  EXPECT_NE(page.find("\"light\":[\"#000000\",\"#D55E00\",\"#0072B2\""), std::string::npos);
  for (const std::string& label : labels) {
    EXPECT_NE(script.find("lc rgb '" + std::string(colours.colour(label)) + "' dt " +
                          (colours.is_dashed(label) ? "2" : "1") + " title \"" + label + "\""),
              std::string::npos)
        << label;
    EXPECT_NE(page.find("{\"label\":\"" + label +
                        "\",\"colour\":" + std::to_string(colours.place(label)) +
                        ",\"dashed\":" + (colours.is_dashed(label) ? "true" : "false")),
              std::string::npos)
        << label;
  }
}

}  // namespace
}  // namespace hilo
