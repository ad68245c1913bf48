#pragma once

#include <string_view>
#include <vector>

#include "hilo/env/nas/environment.hpp"

namespace hilo {

// A made-up accuracy table in the shape of NAS-Bench-201, so that everything runs without the real
// data. docs/nas.md has the formula. It is not measured, and no result obtained from it says
// anything about neural networks.

// The names of its columns: {c10,c100,in16}_{valid200_s888,valid12}.
std::vector<std::string_view> stand_in_columns();

// One column. Columns of the 12-epoch schedule have about the given correlation with those of the
// 200-epoch one. Throws on an unknown name.
Accuracies stand_in_accuracies(std::string_view column, double correlation);

// Takes the place of a content hash in the identity of a run. Its number must be raised when the
// formula changes.
inline constexpr std::string_view kStandInName = "stand-in 1";

}  // namespace hilo
