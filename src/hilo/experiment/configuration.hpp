#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// Everything that decides the results of a run except its seed: values under names such as
// "agent.kind" and "train.gamma", in a fixed order. What the agent never sees is left out, so two
// runs with equal configurations and seeds have equal results.
class Configuration {
 public:
  struct Entry {
    std::string key;
    std::string value;  // as in a spec: texts stand in quotes
    bool operator==(const Entry&) const = default;
  };

  void add(std::string key, std::string value);
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  // The value without quotes; "" if the key is missing.
  std::string value(std::string_view key) const;
  // 0 if the key is missing.
  double number(std::string_view key) const;

  // The canonical form: one "key = value" per line.
  std::string text() const;
  static Configuration from_text(std::string_view text);
  // Of the canonical form, 16 hex digits.
  std::string hash() const;

  bool operator==(const Configuration&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace hilo
