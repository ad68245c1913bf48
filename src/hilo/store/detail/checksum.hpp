#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: how a store notices that its numbers have changed since they
// were written. SQLite sees damage to its own structure, not to a value.
namespace hilo {

// CRC-32 (zlib's) of a sequence of fields. Texts and bytes are preceded by their length, so that
// what moves from one field to the next is noticed.
class Checksum {
 public:
  Checksum& add(std::int64_t value);
  Checksum& add(double value);  // by its bits
  Checksum& add(std::string_view text);
  Checksum& add(std::span<const std::byte> bytes);
  std::int64_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

// Of a run with its measurements, policy and standard errors; of an experiment with what it refers
// to; of a diagnosis. Each as it stands in the tables now.
std::int64_t checksum_of_run(Database& db, std::int64_t run);
std::int64_t checksum_of_experiment(Database& db, const std::string& experiment);
std::int64_t checksum_of_diagnosis(const std::string& experiment, const std::string& json);

// To be called at the end of every transaction that changes one.
void set_checksum_of_run(Database& db, std::int64_t run);
void set_checksum_of_experiment(Database& db, const std::string& experiment);

// Whether it is what was written; true for what hilo 0.1 wrote, which has no checksum.
bool run_is_intact(Database& db, std::int64_t run);
bool experiment_is_intact(Database& db, const std::string& experiment);

// Tables from which runs, experiments or diagnoses are missing, or to which others added some: the
// ledger has their number and the sum of their checksums.
std::vector<std::string> parts_unlike_ledger(Database& db);
void require_ledger(Database& db);  // throws if there are any

}  // namespace hilo
