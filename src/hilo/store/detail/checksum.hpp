#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: checksums, by which a store notices that its contents have
// changed since they were written. SQLite notices damage to its own structure, not to a value.
namespace hilo {

// The CRC-32 (zlib's) of a sequence of fields. The length of a text or of bytes is added first, so
// that a byte that moves from one field to the next changes the checksum.
class Checksum {
 public:
  Checksum& add(std::int64_t value);
  Checksum& add(double value);  // its bit pattern
  Checksum& add(std::string_view text);
  Checksum& add(std::span<const std::byte> bytes);
  std::int64_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

// The checksums of a run with its measurements, policy and standard errors, and of an experiment
// with its references to runs, are computed from the present contents of the tables; -1 if there is
// no such run or experiment. That of a diagnosis is computed from the arguments.
std::int64_t checksum_of_run(Database& db, std::int64_t run);
std::int64_t checksum_of_experiment(Database& db, const std::string& experiment);
std::int64_t checksum_of_diagnosis(const std::string& experiment, const std::string& json);

// Must be called at the end of every transaction that changes a run or an experiment.
void set_checksum_of_run(Database& db, std::int64_t run);
void set_checksum_of_experiment(Database& db, const std::string& experiment);

// Whether the stored checksum still fits. True for what hilo 0.1 wrote, which has no checksum.
bool run_is_intact(Database& db, std::int64_t run);
bool experiment_is_intact(Database& db, const std::string& experiment);

// Which of the tables run, experiment and diagnosis have a number of rows or a sum of checksums
// that differs from the ledger: rows are missing, or were added or changed from outside.
std::vector<std::string> parts_unlike_ledger(Database& db);
void require_ledger(Database& db);  // throws if there is one

}  // namespace hilo
