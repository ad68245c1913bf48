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

// The command line as the commands see it: a wrapper around CLI11. Every file that includes CLI11
// compiles its templates again, which took longer than compiling the commands themselves. Therefore
// only arguments.cpp includes it. Names are those of CLI11.
namespace hilo::cli {

// Returns what is wrong with the given text, or "" if nothing is.
using Check = std::function<std::string(const std::string& text)>;

// A handle to an option of a command. App owns the option itself.
class Option {
 public:
  Option& required();
  Option& capture_default_str();  // the help text shows the default value
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

// Thrown by App::parse: the text of --help or --version, or what is wrong with the command line.
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

  // `value` receives what is given and must outlive the App. A name is "--store", or "STORE" for a
  // positional argument.
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
