#include "hilo/env/program/detail/program_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "hilo/core/child_process.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string hash_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad())
    throw Error(Errc::io, fmt::format("{}: cannot be read", file.string()));
  return hash_hex(contents);
}

// Where a command without a slash is found.
fs::path in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / name; is_file(file)) return file;
  return {};
}

std::vector<std::string> words_in(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    const std::size_t begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    out.push_back(part.substr(begin, part.find_last_not_of(' ') - begin + 1));
  }
  return out;
}

std::string hash_of_program(const std::string& command, const std::vector<std::string>& inputs) {
  std::string all;
  const std::vector<std::string> words = words_in(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    fs::path file = words[i];
    if (i > 0 && words[i - 1].ends_with('>')) continue;  // what a shell writes is no input
    if (words[i].find('>') != std::string::npos) continue;
    if (i == 0 && words[i].find('/') == std::string::npos) file = in_path(words[i]);
    if (is_file(file)) all += fmt::format("{} {}\n", words[i], hash_of_file(file));
  }
  for (const std::string& input : inputs) {
    if (!is_file(input))
      throw Error(Errc::io, fmt::format("{}: is declared as an input, but is no file", input));
    all += fmt::format("{} {}\n", input, hash_of_file(input));
  }
  return hash_hex(all);
}

std::string hash_of_folder(const std::string& folder) {
  std::string all;
  for (const char* name : {"transitions.csv", "start.csv"})
    all += hash_of_file(fs::path(folder) / name) + "\n";
  return hash_hex(all);
}

std::string command_from_anywhere(const std::string& command) {
  if (needs_shell(command)) return command;
  std::vector<std::string> words = words_in(command);
  for (std::string& word : words)
    if (is_file(word)) word = fs::absolute(word).string();
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace hilo
