#include "hilo/store/detail/checksum.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// Little-endian on every machine.
std::array<std::byte, 8> bytes_of(std::uint64_t value) {
  std::array<std::byte, 8> bytes{};
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xffU);
    value >>= 8;
  }
  return bytes;
}

std::uint32_t extend(std::uint32_t sum, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Compares the checksum that a statement selects with the one that now() computes from the tables.
// The statement stays open meanwhile, so that both see the same snapshot. NULL, as in a store of
// version 2, counts as agreement: there is nothing to compare with.
template <class F>
bool agrees(Statement& stored, F&& now) {
  return stored.step() && (stored.is_null(0) || stored.integer(0) == now());
}

}  // namespace

Checksum& Checksum::add(std::int64_t value) {
  sum_ = extend(sum_, bytes_of(static_cast<std::uint64_t>(value)));
  return *this;
}

Checksum& Checksum::add(double value) {
  sum_ = extend(sum_, bytes_of(std::bit_cast<std::uint64_t>(value)));
  return *this;
}

Checksum& Checksum::add(std::span<const std::byte> bytes) {
  add(static_cast<std::int64_t>(bytes.size()));
  sum_ = extend(sum_, bytes);
  return *this;
}

Checksum& Checksum::add(std::string_view text) {
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

std::int64_t checksum_of_run(Database& db, std::int64_t run) {
  Checksum sum;
  Statement head(db,
                 "SELECT config, seed, algorithm_version, host, machine, program, finished, error "
                 "FROM run WHERE id = ?");
  head.bind(run);
  if (!head.step()) return -1;
  sum.add(head.text(0)).add(head.integer(1)).add(head.integer(2));
  for (const int column : {3, 4, 5, 6, 7}) sum.add(head.text(column));
  Statement rows(db,
                 "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                 "ON n.id = m.metric WHERE m.run = ? ORDER BY 1, 2");
  rows.bind(run);
  while (rows.step()) sum.add(rows.integer(0)).add(rows.text(1)).add(rows.number(2));
  Statement policy(db, "SELECT kind, shape, bytes FROM policy WHERE run = ?");
  policy.bind(run);
  if (policy.step())
    sum.add(policy.text(0)).add(policy.text(1)).add(std::span<const std::byte>(policy.blob(2)));
  Statement errors(db, "SELECT standard_error FROM policy_error WHERE run = ?");
  errors.bind(run);
  if (errors.step()) sum.add(std::span<const std::byte>(errors.blob(0)));
  return sum.value();
}

std::int64_t checksum_of_experiment(Database& db, const std::string& experiment) {
  Checksum sum;
  Statement spec(db, "SELECT spec FROM experiment WHERE name = ?");
  spec.bind(experiment);
  if (!spec.step()) return -1;
  sum.add(experiment).add(spec.text(0));
  Statement rows(db,
                 "SELECT agent, seed, config, algorithm_version FROM experiment_run "
                 "WHERE experiment = ? ORDER BY 1, 2, 3, 4");
  rows.bind(experiment);
  while (rows.step())
    sum.add(rows.text(0)).add(rows.integer(1)).add(rows.text(2)).add(rows.integer(3));
  return sum.value();
}

std::int64_t checksum_of_diagnosis(const std::string& experiment, const std::string& json) {
  return Checksum().add(experiment).add(json).value();
}

void set_checksum_of_run(Database& db, std::int64_t run) {
  Statement(db, "UPDATE run SET checksum = ? WHERE id = ?")
      .bind(checksum_of_run(db, run))
      .bind(run)
      .run();
}

void set_checksum_of_experiment(Database& db, const std::string& experiment) {
  Statement(db, "UPDATE experiment SET checksum = ? WHERE name = ?")
      .bind(checksum_of_experiment(db, experiment))
      .bind(experiment)
      .run();
}

bool run_is_intact(Database& db, std::int64_t run) {
  Statement stored(db, "SELECT checksum FROM run WHERE id = ?");
  stored.bind(run);
  return agrees(stored, [&] { return checksum_of_run(db, run); });
}

// Looks for missing configurations too: without its configuration an agent would disappear.
bool experiment_is_intact(Database& db, const std::string& experiment) {
  Statement missing(db,
                    "SELECT 1 FROM experiment_run e LEFT JOIN config c ON c.hash = e.config "
                    "WHERE e.experiment = ? AND c.hash IS NULL LIMIT 1");
  missing.bind(experiment);
  if (missing.step()) return false;
  Statement stored(db, "SELECT checksum FROM experiment WHERE name = ?");
  stored.bind(experiment);
  return agrees(stored, [&] { return checksum_of_experiment(db, experiment); });
}

std::vector<std::string> parts_unlike_ledger(Database& db) {
  std::vector<std::string> parts;
  for (const char* part : {"run", "experiment", "diagnosis"}) {
    Statement now(db, fmt::format("SELECT count(*), coalesce(sum(checksum), 0) FROM {}", part));
    Statement then(db, "SELECT rows, checksums FROM ledger WHERE part = ?");
    then.bind(std::string_view(part));
    if (!now.step() || !then.step() || now.integer(0) != then.integer(0) ||
        now.integer(1) != then.integer(1))
      parts.emplace_back(part);
  }
  return parts;
}

void require_ledger(Database& db) {
  for (const std::string& part : parts_unlike_ledger(db))
    throw Error(Errc::data,
                fmt::format("{}: the store is damaged: the table '{}' is not what was written; "
                            "hilo merge --skip-damaged brings what is whole into a new store",
                            db.name(), part));
}

}  // namespace hilo
