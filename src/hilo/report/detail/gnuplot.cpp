#include "hilo/report/detail/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

struct Terminal {
  const char* suffix;
  const char* set;
};
constexpr std::array<Terminal, 3> kTerminals = {{
    {"svg", "svg size 900,560 dynamic noenhanced font 'Helvetica,14' background '#ffffff'"},
    {"pdf", "pdfcairo size 18cm,11.2cm noenhanced font 'Helvetica,12'"},
    {"png", "pngcairo size 1350,840 noenhanced font 'Helvetica,17'"},
}};

// The beginning of a script. Figures are written beside it: ARG0 is the script's path, as passed to
// gnuplot.
constexpr const char* kStart =
    "reset\nset encoding utf8\n"
    "place = exists(\"ARG0\") ? strlen(ARG0) : 0\n"
    "while (place > 0 && ARG0[place:place] ne \"/\") { place = place - 1 }\n"
    "folder = place > 0 ? ARG0[1:place] : \"./\"\n";

// The environment variables that would change a figure or make gnuplot fail. GDFONTPATH stays: it
// only says where fonts are.
constexpr const char* kUnset =
    "unset GNUTERM GNUHELP GNUPLOT_LIB GNUPLOT_FONTPATH GNUPLOT_DEFAULT_GDFONT GNUPLOT_PS_DIR "
    "GNUPLOT_DRIVER_DIR FIT_LOG FIT_SCRIPT";

// `text` quoted as one word of the shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// gnuplot's error in one line: the last line of its output that names a line of the script, and all
// that follow.
std::string complaint_in(const std::string& said) {
  const std::size_t named = said.rfind("\" line ");
  const std::size_t newline = named == std::string::npos ? named : said.rfind('\n', named);
  std::string out;
  std::istringstream lines(newline == std::string::npos ? said : said.substr(newline + 1));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos) out += (out.empty() ? "" : ", ") + line.substr(start);
  }
  return out;
}

// Runs a script in its own folder, so that the name of a folder cannot be taken for an option.
// Returns the error message; "" on success.
std::string run_script(const fs::path& script_file) {
  const std::string command =
      fmt::format("{} && cd -- {} && exec gnuplot --default-settings {} 2>&1 < /dev/null", kUnset,
                  shell_word(fs::absolute(script_file).parent_path().string()),
                  shell_word("./" + script_file.filename().string()));
  std::FILE* gnuplot = ::popen(command.c_str(), "r");
  if (gnuplot == nullptr) throw Error(Errc::io, "gnuplot cannot be started");
  std::string message;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), gnuplot) != nullptr) message += buffer.data();
  const int status = ::pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(Errc::io, "figures need gnuplot, which is not there (Debian: gnuplot-nox)");
  return status == 0 ? "" : "gnuplot failed: " + complaint_in(message);
}

bool is_drawn(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return !error && size > 0;
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "\"";
  bool after_number = false;  // a digit after \ooo must not become a part of it
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    // @ begins a macro, a backquote a shell command.
    const bool special = c == '"' || c == '\\' || c == '`' || c == '@' || (digit && after_number);
    if (special)
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    after_number = special;
  }
  return out + "\"";
}

std::string gnuplot_tic(const std::string& text) {
  std::string format;
  for (const char c : text) format.append(c == '%' ? 2 : 1, c);
  return gnuplot_quoted(format);
}

std::string fit_figure(const std::string& name) {
  constexpr std::size_t kMost = 44;  // characters
  std::vector<std::size_t> starts;   // of characters, each one or more bytes of UTF-8
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((static_cast<unsigned char>(name[i]) & 0xc0) != 0x80) starts.push_back(i);
  if (starts.size() <= kMost) return name;
  return name.substr(0, starts[kMost / 2]) + "…" +
         name.substr(starts[starts.size() - (kMost / 2 - 1)]);
}

std::vector<fs::path> run_gnuplot(const GnuplotScript& script, const fs::path& folder,
                                  const std::string& stem) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Errc::io, fmt::format("{}: cannot be made: {}", folder.string(), error.message()));

  std::string text = kStart + script.settings;
  std::vector<fs::path> files;
  for (const Terminal& terminal : kTerminals) {
    const std::string name = stem + "." + terminal.suffix;
    files.push_back(folder / name);
    text += fmt::format("set terminal {}\nset output folder.{}\nplot \\\n{}\nset output\n",
                        terminal.set, gnuplot_quoted(name), script.plot);
  }
  const fs::path script_file = folder / (stem + ".gnuplot");
  for (const fs::path& picture : files) require_writable_picture(picture);
  require_writable_picture(script_file);
  AtomicFile file(script_file, {.mark = ""});
  file.out() << text;
  file.commit();
  std::string failure = run_script(script_file);
  for (const fs::path& drawn : files)
    if (failure.empty() && !is_drawn(drawn)) failure = "gnuplot did not write " + drawn.string();
  if (!failure.empty()) {
    for (const fs::path& drawn : files) fs::remove(drawn, error);
    throw Error(Errc::io, fmt::format("{}: {}", script_file.string(), failure));
  }
  return files;
}

}  // namespace hilo
