// Reports and figures as the program writes them.
#include "cli_fixture.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgents = R"(label = "10% noise"
[[agent]]
kind = "mfmcrl"
low_rollouts = 2
label = "'plus'"
)";

// The files that it says it has drawn.
std::vector<std::string> listed(const std::string& out) {
  std::vector<std::string> files;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("figure: ")) files.push_back(line.substr(8));
  return files;
}

TEST_F(Cli, DrawsOrdinaryLabelsIntoFoldersOfAnyName) {
  write("tiny.toml", testing::tiny_spec(kAgents));
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  for (const char* folder : {"-x", "--json", "it's 10% here"}) {
    const Finished f = hilo({"report", "hilo.db", std::string("--figures=") + folder});
    EXPECT_EQ(f.code, 0) << f.err;
    const auto files = listed(f.out);
    EXPECT_EQ(files.size(), 12U);  // four figures, three files each
    for (const std::string& file : files) {
      EXPECT_TRUE(file.starts_with(std::string(folder) + "/")) << file;
      EXPECT_TRUE(fs::exists(path(file))) << file;
    }
  }
  EXPECT_EQ(listed(hilo({"report", "hilo.db", "--figures", "-x"}).out).size(), 12U);
}

TEST_F(Cli, AFigureThatFailsTakesNothingWithIt) {
  write("tiny.toml", testing::tiny_spec(kAgents));
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  write("figures/tiny.svg/in-the-way", "");
  for (const char* out : {"page.html", "page.md"}) {
    const Finished f = hilo({"report", "hilo.db", "--out", out, "--figures", "figures"});
    EXPECT_EQ(f.code, 5);
    EXPECT_NE(f.err.find("not all figures could be drawn: figures/tiny.gnuplot: gnuplot failed"),
              std::string::npos)
        << f.err;
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    EXPECT_NE(f.out.find(std::string("report: ") + out), std::string::npos) << f.out;
    EXPECT_GT(fs::file_size(path(out)), 1000U);
    const auto files = listed(f.out);
    EXPECT_EQ(files.size(), 9U);  // the others
    for (const std::string& file : files) EXPECT_TRUE(fs::exists(path(file))) << file;
  }
  // A document shows no picture that is not there.
  EXPECT_EQ(testing::read_text(path("page.md")).find("!["), std::string::npos);
  fs::remove_all(path("figures/tiny.svg"));
  EXPECT_EQ(hilo({"report", "hilo.db", "--out", "page.md", "--figures", "figures"}).code, 0);
  EXPECT_NE(testing::read_text(path("page.md")).find("](figures/tiny.png)"), std::string::npos);
}

}  // namespace
}  // namespace hilo
