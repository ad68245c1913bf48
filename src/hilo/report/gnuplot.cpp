#include "hilo/report/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

struct Terminal {
  const char* suffix;
  const char* set;
};
constexpr std::array<Terminal, 3> kTerminals = {{
    {"svg", "svg size 900,560 dynamic font 'Helvetica,14' background '#ffffff'"},
    {"pdf", "pdfcairo size 18cm,11.2cm font 'Helvetica,12'"},
    {"png", "pngcairo size 1350,840 font 'Helvetica,17'"},
}};

// `text` as one word of the shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void run_script(const fs::path& script_file) {
  const std::string command = "gnuplot " + shell_word(script_file.string()) + " 2>&1";
  std::FILE* gnuplot = ::popen(command.c_str(), "r");
  if (gnuplot == nullptr) throw Error(Errc::io, "gnuplot cannot be started");
  std::string message;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), gnuplot) != nullptr) message += buffer.data();
  const int status = ::pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(Errc::io, "figures need gnuplot, which is not there (Debian: gnuplot-nox)");
  if (status != 0)
    throw Error(Errc::io, fmt::format("gnuplot failed on {}: {}", script_file.string(), message));
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out + "'";
}

std::vector<fs::path> run_gnuplot(const GnuplotScript& script, const fs::path& folder,
                                  const std::string& stem) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Errc::io, fmt::format("{}: cannot be made: {}", folder.string(), error.message()));

  std::string text = script.settings;
  std::vector<fs::path> files;
  for (const Terminal& terminal : kTerminals) {
    files.push_back(folder / (stem + "." + terminal.suffix));
    text += fmt::format("set terminal {}\nset output {}\nplot \\\n{}\nset output\n", terminal.set,
                        gnuplot_quoted(files.back().string()), script.plot);
  }
  const fs::path script_file = folder / (stem + ".gnuplot");
  AtomicFile file(script_file);
  file.out() << text;
  file.commit();
  run_script(script_file);
  return files;
}

}  // namespace hilo
