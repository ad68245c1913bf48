#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// The command line, as commands see it: CLI11 behind a door. Every file that includes CLI11
// compiles its templates anew, which took longer than all that the commands do; so arguments.cpp is
// the only one. Names are CLI11's.
namespace hilo::cli {

// Says what is wrong with a text that was given, or "".
using Check = std::function<std::string(const std::string& text)>;

// An option of a command. A handle: App owns what is behind it.
class Option {
 public:
  Option& required();
  Option& capture_default_str();  // shows what it is by default
  Option& check(Check check);
  Option& expected(int count);
  Option& each_time();  // may be given several times, one value each
  Option& delimiter(char between);
  Option& needs(const Option& other);

 private:
  friend class App;
  explicit Option(void* behind) : behind_(behind) {}
  void* behind_;  // CLI::Option
};

// What --help and --version print, or what is wrong with the command line.
struct ShownInstead {
  std::string text;
};
class BadCommandLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A command, or the program with its commands.
class App {
 public:
  App(const std::string& description, const std::string& name);
  App(const App&) = delete;
  App& operator=(const App&) = delete;
  ~App();

  // Where the value goes, which must outlive it. Names: "--store", or "STORE" for one without.
  Option add_option(const std::string& name, std::string& value, const std::string& description);
  Option add_option(const std::string& name, std::vector<std::string>& value,
                    const std::string& description);
  Option add_option(const std::string& name, std::filesystem::path& value,
                    const std::string& description);
  Option add_option(const std::string& name, std::uint32_t& value, const std::string& description);
  Option add_option(const std::string& name, std::uint64_t& value, const std::string& description);
  Option add_option(const std::string& name, std::optional<std::uint64_t>& value,
                    const std::string& description);
  Option add_option(const std::string& name, double& value, const std::string& description);
  Option add_option(const std::string& name, std::optional<double>& value,
                    const std::string& description);
  Option add_option(const std::string& name, std::vector<double>& value,
                    const std::string& description);
  void add_flag(const std::string& name, bool& value, const std::string& description);

  App& add_subcommand(const std::string& name, const std::string& description);
  void require_subcommand();
  void footer(const std::string& text);
  void set_version(const std::string& text);

  // Throws ShownInstead or BadCommandLine.
  void parse(int argc, char** argv);
  bool was_called() const;

  const std::string& name() const { return name_; }
  std::vector<std::string> option_names() const;  // "--store"
  const std::vector<std::unique_ptr<App>>& subcommands() const { return subcommands_; }
  const App* parent() const { return parent_; }

 private:
  App(App& parent, const std::string& name, const std::string& description);
  template <class T>
  Option add(const std::string& name, T& value, const std::string& description);

  struct Impl;
  std::string name_;
  const App* parent_ = nullptr;
  std::unique_ptr<Impl> impl_;
  std::vector<std::unique_ptr<App>> subcommands_;
};

Check one_of(std::initializer_list<const char*> words);

}  // namespace hilo::cli
