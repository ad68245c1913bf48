#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/output_file.hpp"
#include "hilo/env/nas/environment.hpp"

namespace hilo {

// The unit of the accuracies in a table.
enum class AccuracyScale : std::uint8_t { percent, fraction };
AccuracyScale accuracy_scale_from_name(std::string_view name);  // "percent", "fraction"

// Columns of a NAS-Bench-201 table (docs/nas.md): CSV, plain or gzipped, with a header. The column
// `arch_str` or `arch` (architecture strings), `naslib_ops` or `ops` (six digits) names the
// architecture. Rows may be in any order, but every architecture must occur once, and every
// accuracy must be a number in range. Errors name the file, the line, the column and the value.
std::vector<Accuracies> load_accuracies(const std::filesystem::path& file,
                                        const std::vector<std::string>& columns,
                                        AccuracyScale scale);

// The names of all columns that load_accuracies can read, and of the others, which have gaps or
// numbers that cannot be accuracies. Columns that name the architecture are in neither list.
struct AccuracyColumns {
  std::vector<std::string> usable, others;
};
AccuracyColumns list_accuracies(const std::filesystem::path& file, AccuracyScale scale);

// Writes such a table: arch_str and the columns, in the order of architectures. The header is used
// as the mark of `overwrite`.
void save_accuracies(const std::filesystem::path& file, const std::vector<std::string>& names,
                     const std::vector<Accuracies>& columns, Overwrite overwrite = {});

}  // namespace hilo
