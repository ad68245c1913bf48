#include "hilo/store/detail/attempt_rows.hpp"

#include <fmt/format.h>

#include "hilo/core/machine.hpp"
#include "hilo/store/detail/checksum.hpp"
#include "hilo/store/detail/path_bytes.hpp"

namespace hilo {
namespace {

constexpr const char* kFinished = "finished";

constexpr const char* kColumns =
    "episode, test, number, seed, status, error, steps, cost, cost_source, low_steps, seconds, "
    "clock, started, host, path, checksum, run, position, low_seconds";

}  // namespace

std::string attempt_columns() { return kColumns; }

AttemptRow row_of(const Statement& s) {
  return {.run = s.integer(16),
          .position = s.integer(17),
          .episode = s.integer(0),
          .test = s.integer(1),
          .number = s.integer(2),
          .seed = s.integer(3),
          .status = s.text(4),
          .error = s.text(5),
          .steps = s.integer(6),
          .cost = s.number(7),
          .cost_source = s.text(8),
          .low_steps = s.integer(9),
          .low_seconds = s.number(18),
          .seconds = s.number(10),
          .clock = s.number(11),
          .started = s.text(12),
          .host = s.text(13),
          .path = s.blob(14),
          .checksum = s.integer(15)};
}

std::int64_t checksum_of(const AttemptRow& row) {
  return Checksum()
      .add(row.run)
      .add(row.position)
      .add(row.episode)
      .add(row.test)
      .add(row.number)
      .add(row.seed)
      .add(row.status)
      .add(row.error)
      .add(row.steps)
      .add(row.cost)
      .add(row.cost_source)
      .add(row.low_steps)
      .add(row.low_seconds)
      .add(row.seconds)
      .add(row.clock)
      .add(row.started)
      .add(row.host)
      .add(std::span<const std::byte>(row.path))
      .value();
}

Attempt attempt_of(const AttemptRow& row) {
  const auto count = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  Attempt attempt{.at = {.episode = count(row.episode),
                         .test = row.test < 0 ? std::nullopt : std::optional(count(row.test))},
                  .number = count(row.number),
                  .seed = static_cast<std::uint32_t>(row.seed),
                  .failed = row.status != kFinished,
                  .error = row.error,
                  .steps = count(row.steps),
                  .cost = row.cost,
                  .cost_source = row.cost_source,
                  .low_steps = count(row.low_steps),
                  .low_seconds = row.low_seconds,
                  .seconds = row.seconds,
                  .clock = row.clock,
                  .started = row.started,
                  .host = row.host};
  if (!row.path.empty()) attempt.paid = unpack(row.path);
  return attempt;
}

AttemptRow row_of(const Attempt& attempt) {
  static const std::string kHost = host_name();
  return {.episode = static_cast<std::int64_t>(attempt.at.episode),
          .test = attempt.at.test ? static_cast<std::int64_t>(*attempt.at.test) : -1,
          .number = static_cast<std::int64_t>(attempt.number),
          .seed = std::int64_t{attempt.seed},
          .status = attempt.failed ? "failed" : kFinished,
          .error = attempt.error,
          .steps = static_cast<std::int64_t>(attempt.steps),
          .cost = attempt.cost,
          .cost_source = attempt.cost_source,
          .low_steps = static_cast<std::int64_t>(attempt.low_steps),
          .low_seconds = attempt.low_seconds,
          .seconds = attempt.seconds,
          .clock = attempt.clock,
          .started = attempt.started,
          .host = attempt.host.empty() ? kHost : attempt.host,
          .path = attempt.failed && attempt.paid.path.states.empty() && !attempt.paid.vectors
                      ? std::vector<std::byte>()
                      : pack(attempt.paid)};
}

AttemptWriter::AttemptWriter(Database& db)
    : next_(db,
            "SELECT coalesce(max(position), 0) + 1, datetime('now', (? || ' seconds')) FROM "
            "attempt WHERE run = ?"),
      insert_(db, fmt::format("INSERT INTO attempt ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                              "?, ?, ?, ?, ?, ?, ?, ?)",
                              kColumns)) {}

void AttemptWriter::append(std::int64_t run, const Attempt& attempt) {
  AttemptRow row = row_of(attempt);
  row.run = run;
  next_.bind(-attempt.seconds).bind(run);  // it began so long ago
  next_.step();
  row.position = next_.integer(0);
  if (row.started.empty()) row.started = next_.text(1);
  next_.reset();
  insert_.bind(row.episode).bind(row.test).bind(row.number).bind(row.seed).bind(row.status);
  insert_.bind(row.error).bind(row.steps).bind(row.cost).bind(row.cost_source);
  insert_.bind(row.low_steps).bind(row.seconds).bind(row.clock).bind(row.started).bind(row.host);
  insert_.bind(std::span<const std::byte>(row.path)).bind(checksum_of(row));
  insert_.bind(row.run).bind(row.position).bind(row.low_seconds);
  insert_.run();
}

}  // namespace hilo
