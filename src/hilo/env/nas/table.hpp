#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/output_file.hpp"
#include "hilo/env/nas/environment.hpp"

namespace hilo {

// In what accuracies are written.
enum class AccuracyScale : std::uint8_t { percent, fraction };
AccuracyScale accuracy_scale_from_name(std::string_view name);  // "percent", "fraction"

// Columns of a NAS-Bench-201 table (docs/nas.md): CSV, plain or gzipped, with a header. The column
// `arch_str` or `arch` (architecture strings), `naslib_ops` or `ops` (six digits) names the
// architecture; rows may come in any order, but every architecture must come once and every
// accuracy must be a number in range. Errors name the file, the line, the column and the value.
std::vector<Accuracies> load_accuracies(const std::filesystem::path& file,
                                        const std::vector<std::string>& columns,
                                        AccuracyScale scale);

// The names of all columns that can be read like that, and of the others: with gaps, or with
// numbers that are no accuracies.
struct AccuracyColumns {
  std::vector<std::string> usable, others;
};
AccuracyColumns list_accuracies(const std::filesystem::path& file, AccuracyScale scale);

// Writes such a table: arch_str and the columns, in the order of architectures. `overwrite` need
// not have a mark: it is the header.
void save_accuracies(const std::filesystem::path& file, const std::vector<std::string>& names,
                     const std::vector<Accuracies>& columns, Overwrite overwrite = {});

}  // namespace hilo
