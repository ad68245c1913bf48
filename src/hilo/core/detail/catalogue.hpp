#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"

// For source files only, as it needs fmt. The catalogues themselves are reached through functions
// in the headers of their folders.
namespace hilo {

// The registered kinds of one sort ("agent", "problem"), each with a `name`, in the order in which
// they were added. A kind keeps its address until the program ends.
//
// Many threads may read it. Kinds are added by one thread, before anything runs.
template <class Kind>
class Catalogue {
 public:
  Catalogue(std::string_view sort, std::vector<Kind> built_in) : sort_(sort) {
    for (Kind& kind : built_in) add(std::move(kind));
    num_built_in_ = kinds_.size();
  }

  // Throws Errc::usage if the name is taken, or is not made of a-z, 0-9, '-' and '_'.
  // With `may_replace`, a new kind replaces an added one (not a built-in one) of the same name: the
  // old kind is no longer found, but references to it stay valid.
  const Kind& add(Kind kind, bool may_replace = false) {
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (kind.name.empty() || kind.name.size() > 100 ||
        !std::all_of(kind.name.begin(), kind.name.end(), allowed))
      throw Error(Errc::usage,
                  fmt::format("the name of a kind of {} is '{}', but must be 1 to 100 characters "
                              "of a-z, 0-9, '-' and '_'",
                              sort_, kind.name));
    const std::lock_guard lock(mutex_);
    if (const Kind* there = look_up(kind.name);
        there != nullptr && (!may_replace || is_built_in(there)))
      throw Error(Errc::usage,
                  fmt::format("there is a kind of {} called '{}' already", sort_, kind.name));
    return kinds_.emplace_back(std::move(kind));
  }

  // Throws Errc::spec on an unknown name; the message suggests the nearest known one.
  const Kind& find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (const Kind* kind = look_up(name)) return *kind;
    std::vector<std::string> known;
    for (const Kind& kind : kinds_)
      if (look_up(kind.name) == &kind) known.emplace_back(kind.name);
    throw Error(Errc::spec, fmt::format("unknown {} kind '{}'{} (known: {})", sort_, name,
                                        did_you_mean(name, known), fmt::join(known, ", ")));
  }

  bool contains(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return look_up(name) != nullptr;
  }

  // All kinds that can be found at this moment.
  std::vector<std::reference_wrapper<const Kind>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::reference_wrapper<const Kind>> out;
    for (const Kind& kind : kinds_)
      if (look_up(kind.name) == &kind) out.push_back(kind);
    return out;
  }

 private:
  const Kind* look_up(std::string_view name) const {
    const auto found = std::find_if(kinds_.rbegin(), kinds_.rend(),
                                    [&](const Kind& kind) { return kind.name == name; });
    return found == kinds_.rend() ? nullptr : &*found;
  }
  bool is_built_in(const Kind* kind) const {
    for (std::size_t i = 0; i < num_built_in_; ++i)
      if (&kinds_[i] == kind) return true;
    return false;
  }

  std::string sort_;
  mutable std::mutex mutex_;
  std::deque<Kind> kinds_;
  std::size_t num_built_in_ = 0;
};

}  // namespace hilo
