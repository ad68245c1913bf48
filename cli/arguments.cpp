#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "hilo/core/parameters.hpp"

namespace hilo::cli {
namespace {

CLI::Option& as_option(void* behind) { return *static_cast<CLI::Option*>(behind); }

}  // namespace

struct App::Impl {
  std::unique_ptr<CLI::App> own;  // only in the program's App; it owns the commands
  CLI::App* app = nullptr;
};

Option& Option::required() {
  as_option(behind_).required();
  return *this;
}
Option& Option::capture_default_str() {
  as_option(behind_).capture_default_str();
  return *this;
}
Option& Option::check(Check check) {
  as_option(behind_).check(
      CLI::Validator([check = std::move(check)](std::string& text) { return check(text); }, ""));
  return *this;
}
Option& Option::expected(int count) {
  as_option(behind_).expected(count);
  return *this;
}
Option& Option::each_time() {
  as_option(behind_).take_all()->expected(1)->allow_extra_args(false);
  return *this;
}
Option& Option::delimiter(char between) {
  as_option(behind_).delimiter(between);
  return *this;
}
Option& Option::needs(const Option& other) {
  as_option(behind_).needs(&as_option(other.behind_));
  return *this;
}

App::App(const std::string& description, const std::string& name)
    : name_(name), impl_(std::make_unique<Impl>()) {
  impl_->own = std::make_unique<CLI::App>(description, name);
  impl_->app = impl_->own.get();
}

App::App(App& parent, const std::string& name, const std::string& description)
    : name_(name), parent_(&parent), impl_(std::make_unique<Impl>()) {
  impl_->app = parent.impl_->app->add_subcommand(name, description);
}

App::~App() = default;

template <class T>
Option App::add(const std::string& name, T& value, const std::string& description) {
  return Option(impl_->app->add_option(name, value, description));
}

Option App::add_option(const std::string& name, std::string& value, const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::vector<std::string>& value,
                       const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::filesystem::path& value,
                       const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::uint32_t& value, const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::uint64_t& value, const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::optional<std::uint64_t>& value,
                       const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, double& value, const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::optional<double>& value,
                       const std::string& text) {
  return add(name, value, text);
}
Option App::add_option(const std::string& name, std::vector<double>& value,
                       const std::string& text) {
  return add(name, value, text);
}
void App::add_flag(const std::string& name, bool& value, const std::string& text) {
  impl_->app->add_flag(name, value, text);
}

App& App::add_subcommand(const std::string& name, const std::string& description) {
  subcommands_.push_back(std::unique_ptr<App>(new App(*this, name, description)));
  return *subcommands_.back();
}
void App::require_subcommand() { impl_->app->require_subcommand(1); }
void App::footer(const std::string& text) { impl_->app->footer(text); }
void App::set_version(const std::string& text) { impl_->app->set_version_flag("--version", text); }

void App::parse(int argc, char** argv) {
  try {
    impl_->app->parse(argc, argv);
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    impl_->app->exit(e, text, text);
    throw ShownInstead{text.str()};
  } catch (const CLI::ParseError& e) {
    throw BadCommandLine(e.what());
  }
}

bool App::was_called() const { return impl_->app->parsed(); }

std::vector<std::string> App::option_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : impl_->app->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Check one_of(std::initializer_list<const char*> words) {
  return [known = std::vector<std::string>(words.begin(), words.end())](const std::string& given) {
    if (std::ranges::find(known, given) != known.end()) return std::string();
    return fmt::format("'{}' is none of {}{}", given, fmt::join(known, ", "),
                       did_you_mean(given, known));
  };
}

}  // namespace hilo::cli
