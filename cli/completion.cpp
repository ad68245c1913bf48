#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"

namespace hilo::cli {
namespace {

// Completes the subcommands after "hilo", then their options, else file names. zsh uses the same
// function through bashcompinit.
std::string bash_completion(const App& root) {
  std::string cases;
  std::vector<std::string> names;
  for (const auto& sub : root.subcommands()) {
    names.push_back(sub->name());
    std::vector<std::string> words = sub->option_names();
    if (sub->name() == "list")
      words.insert(words.end(), {"problems", "agents", "estimators", "experiments", "metrics"});
    if (sub->name() == "completion") words.insert(words.end(), {"bash", "zsh"});
    cases += fmt::format("    {}) words='{}' ;;\n", sub->name(), fmt::join(words, " "));
  }
  return fmt::format(R"(_hilo() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{}    *) words='{} --help --version' ;;
  esac
  [ "$COMP_CWORD" -gt 1 ] || words='{} --help --version'
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _hilo hilo
)",
                     cases, fmt::join(names, " "), fmt::join(names, " "));
}

}  // namespace

Handler add_completion(App& app) {
  const auto shell = std::make_shared<std::string>("bash");
  app.add_option("SHELL", *shell, "bash or zsh").check(one_of({"bash", "zsh"}));
  add_example(app, "source <(hilo completion bash)");
  return [shell, &app] {
    if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    fmt::print("{}", bash_completion(*app.parent()));
    return 0;
  };
}

}  // namespace hilo::cli
