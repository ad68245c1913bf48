#include "hilo/store/detail/policy_bytes.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

std::optional<PolicyRows> read_policy(Database& db, std::int64_t run) {
  Statement row(db, "SELECT kind, shape, bytes FROM policy WHERE run = ?");
  row.bind(run);
  if (!row.step()) return std::nullopt;
  PolicyRows rows;
  rows.artifact = {row.text(0), row.text(1), row.blob(2)};
  if (rows.artifact.kind != kQTable) return rows;
  try {
    rows.table = q_table_of(rows.artifact);
    Statement errors(db, "SELECT standard_error FROM policy_error WHERE run = ?");
    errors.bind(run);
    if (errors.step())
      rows.standard_errors = inflate_values(errors.blob(0), rows.table.values.size());
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: the store is damaged: {}", db.name(), e.what()));
  }
  return rows;
}

}  // namespace hilo
