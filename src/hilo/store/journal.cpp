#include "hilo/store/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/store/detail/checksum.hpp"
#include "hilo/store/detail/path_bytes.hpp"
#include "hilo/store/detail/sqlite.hpp"
#include "hilo/store/detail/store_file.hpp"
#include "hilo/store/detail/writer_lock.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhat = "journal";
constexpr std::int64_t kJournalId = 0x68696c6a;  // "hilj"

std::string schema() {
  return fmt::format(R"sql(
BEGIN IMMEDIATE;
PRAGMA application_id = {};
PRAGMA user_version = {};

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  seed INTEGER NOT NULL,
  identity TEXT NOT NULL,  -- lines "key = value"
  spec TEXT NOT NULL,      -- TOML
  program TEXT NOT NULL,
  started TEXT NOT NULL,   -- UTC
  simulators TEXT NOT NULL,  -- lines "role", "name", "version", "identity" of each
  checksum INTEGER NOT NULL,
  UNIQUE (name, seed)
);

-- The attempts of a run, numbered from 1 without gaps.
CREATE TABLE attempt (
  run INTEGER NOT NULL,
  position INTEGER NOT NULL,
  episode INTEGER NOT NULL,
  test INTEGER NOT NULL,     -- -1 in training
  number INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  status TEXT NOT NULL,      -- finished or failed
  error TEXT NOT NULL,
  steps INTEGER NOT NULL,
  cost REAL NOT NULL,
  cost_source TEXT NOT NULL,
  low_steps INTEGER NOT NULL,
  low_seconds REAL NOT NULL,
  seconds REAL NOT NULL,
  clock REAL NOT NULL,
  started TEXT NOT NULL,
  host TEXT NOT NULL,
  path BLOB,                 -- NULL if it failed
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run, position),
  UNIQUE (run, episode, test, number)
) WITHOUT ROWID;

CREATE TABLE decision (
  run INTEGER NOT NULL,
  what TEXT NOT NULL,
  value REAL NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run, what)
) WITHOUT ROWID;
COMMIT;
)sql",
                     kJournalId, Journal::kSchemaVersion);
}

constexpr const char* kFinished = "finished";

constexpr const char* kColumns =
    "episode, test, number, seed, status, error, steps, cost, cost_source, low_steps, seconds, "
    "clock, started, host, path, checksum, run, position, low_seconds";

// A row as it is stored.
struct Row {
  std::int64_t run = 0, position = 0, episode = 0, test = -1, number = 0, seed = 0;
  std::string status, error;
  std::int64_t steps = 0;
  double cost = 0;
  std::string cost_source;
  std::int64_t low_steps = 0;
  double low_seconds = 0, seconds = 0, clock = 0;
  std::string started, host;
  std::vector<std::byte> path;
  std::int64_t checksum = 0;
};

Row row_of(const Statement& s) {
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

std::int64_t checksum_of(const Row& row) {
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

Attempt attempt_of(const Row& row) {
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
  if (!attempt.failed) attempt.paid = unpack(row.path);
  return attempt;
}

Row row_of(const Attempt& attempt) {
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
          .path = attempt.failed ? std::vector<std::byte>() : pack(attempt.paid)};
}

std::string describe(const SimulatorIdentity& s) {
  return fmt::format("{}\n{}\n{}\n{}\n", s.role, s.name, s.version, s.identity);
}

std::string describe(const std::vector<SimulatorIdentity>& simulators) {
  std::string text;
  for (const SimulatorIdentity& s : simulators) text += describe(s);
  return text;
}

std::vector<SimulatorIdentity> simulators_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<SimulatorIdentity> out;
  for (std::size_t i = 0; i + 3 < lines.size(); i += 4)
    out.push_back({lines[i], lines[i + 1], lines[i + 2], lines[i + 3]});
  return out;
}

std::int64_t checksum_of(const JournalledRun& run) {
  return Checksum()
      .add(run.name)
      .add(static_cast<std::int64_t>(run.seed))
      .add(run.identity.text())
      .add(run.spec)
      .add(run.program)
      .add(run.started)
      .add(describe(run.simulators))
      .value();
}

std::int64_t checksum_of(std::int64_t run, const std::string& what, double value) {
  return Checksum().add(run).add(what).add(value).value();
}

// "train.gamma was 0.99 and is 0.9, agent.kind was ..."
std::string differences(const Configuration& before, const Configuration& now) {
  const auto find = [](const Configuration& in, const std::string& key) -> std::string {
    const auto found = std::ranges::find(in.entries(), key, &Configuration::Entry::key);
    return found == in.entries().end() ? "absent" : found->value;
  };
  std::vector<std::string> out;
  for (const auto& [key, value] : before.entries())
    if (find(now, key) != value)
      out.push_back(fmt::format("{} was {} and is {}", key, value, find(now, key)));
  for (const auto& [key, value] : now.entries())
    if (find(before, key) == "absent")
      out.push_back(fmt::format("{} was absent and is {}", key, value));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::int64_t test_of(const EpisodeAddress& at) {
  return at.test ? static_cast<std::int64_t>(*at.test) : -1;
}

std::string name_of(const EpisodeAddress& at) {
  return at.test ? fmt::format("episode {} of the test after {} training episodes", *at.test,
                               at.episode)
                 : fmt::format("training episode {}", at.episode);
}

// Writes attempts, within a transaction of the caller. Statements are prepared once.
class AttemptWriter {
 public:
  explicit AttemptWriter(Database& db)
      : next_(db,
              "SELECT coalesce(max(position), 0) + 1, datetime('now') FROM attempt WHERE run = ?"),
        insert_(db, fmt::format("INSERT INTO attempt ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                "?, ?, ?, ?, ?, ?, ?, ?)",
                                kColumns)) {}

  void append(std::int64_t run, const Attempt& attempt) {
    Row row = row_of(attempt);
    row.run = run;
    next_.bind(run);
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

 private:
  Statement next_, insert_;
};

}  // namespace

struct Journal::Impl {
  Impl(fs::path journal_file, bool write, Damaged on_damage)
      : file(std::move(journal_file)),
        lock(write ? std::make_unique<WriterLock>(file, kWhat) : nullptr),
        db(open_database(file, write, schema(), kWhat)),
        damaged(on_damage) {
    std::int64_t id = kJournalId;
    look_for([&] { id = db.pragma("application_id"); });
    if (id != kJournalId)
      throw Error(Errc::data, fmt::format("{}: is not a hilo journal", db.name()));
    if (const std::int64_t version = db.pragma("user_version"); version != kSchemaVersion)
      throw Error(Errc::data, fmt::format("{}: the journal has version {}, but this program reads "
                                          "version {}",
                                          db.name(), version, kSchemaVersion));
    look_for([&] { require_full_length(db, file); });
    look_for([&] { require_undamaged(db); });
    for (const JournalledRun& run : read_runs()) verify(run);
  }
  ~Impl() {
    writer_.reset();  // open statements would keep the log
    rows_at_.reset();
    if (lock) end_log(db);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Damage that a check finds is thrown, or kept as a sentence.
  template <class Check>
  void look_for(Check&& check) {
    try {
      check();
    } catch (const Error& e) {
      if (e.code() != Errc::data) throw;
      report(e.what());
    }
  }

  void report(const std::string& what) {
    if (damaged == Damaged::stop)
      throw Error(Errc::data,
                  fmt::format("{}; hilo journal merge {} --skip-damaged --into NEW saves all that "
                              "is whole",
                              what, file.string()));
    damage.push_back(what);
  }

  std::vector<JournalledRun> read_runs() {
    std::vector<JournalledRun> out;
    look_for([&] {
      Statement rows(
          db,
          "SELECT id, name, seed, identity, spec, program, started, simulators, checksum "
          "FROM run ORDER BY id");
      while (rows.step()) {
        JournalledRun run{.id = rows.integer(0),
                          .name = rows.text(1),
                          .seed = static_cast<std::uint64_t>(rows.integer(2)),
                          .identity = Configuration::from_text(rows.text(3)),
                          .spec = rows.text(4),
                          .program = rows.text(5),
                          .started = rows.text(6),
                          .simulators = simulators_of(rows.text(7))};
        if (rows.integer(8) == checksum_of(run))
          out.push_back(std::move(run));
        else
          report(fmt::format("{}: the journal is damaged: run {} is not what was written",
                             db.name(), rows.integer(0)));
      }
    });
    return out;
  }

  // All rows are where they should be, and are what was written.
  void verify(const JournalledRun& run) {
    std::int64_t expected = 1;
    visit_rows(run.id, [&](const Row& row) {
      for (; expected < row.position; ++expected)
        report(fmt::format("{}: the journal is damaged: attempt {} of run '{}' is missing",
                           db.name(), expected, run.name));
      ++expected;
    });
    look_for([&] {
      Statement rows(db, "SELECT what, value, checksum FROM decision WHERE run = ?");
      rows.bind(run.id);
      while (rows.step())
        if (rows.integer(2) != checksum_of(run.id, rows.text(0), rows.number(1)))
          report(fmt::format("{}: the journal is damaged: '{}' of run '{}' is not what was written",
                             db.name(), rows.text(0), run.name));
    });
  }

  // Rows that are what was written. Where damage is left out, a row that cannot be read does not
  // hide those behind it.
  template <class Visit>
  void visit_rows(std::int64_t run, Visit&& visit) {
    std::int64_t after = 0;
    std::int64_t last = 0;
    look_for([&] {
      Statement largest(db, "SELECT max(position) FROM attempt WHERE run = ?");
      largest.bind(run);
      if (largest.step()) last = largest.integer(0);
    });
    const auto accept = [&](const Row& row) {
      after = row.position;
      if (row.checksum != checksum_of(row))
        report(
            fmt::format("{}: the journal is damaged: attempt {} of run {} is not what was "
                        "written",
                        db.name(), after, run));
      else
        visit(row);
    };
    const auto scan = [&] {
      Statement rows(db, fmt::format("SELECT {} FROM attempt WHERE run = ? AND position > ? "
                                     "ORDER BY position",
                                     kColumns));
      rows.bind(run).bind(after);
      while (rows.step()) accept(row_of(rows));
    };
    if (damaged == Damaged::stop) return scan();
    // A scan that fails is taken up behind the row at which it failed.
    constexpr std::int64_t kProbes = 1000;  // past the last known row
    while (true) {
      const std::int64_t before = after;
      try {
        scan();
        return;
      } catch (const Error& e) {
        if (e.code() != Errc::data) throw;
        if (after == before) ++after;
        if (damage.empty() || damage.back() != e.what()) damage.emplace_back(e.what());
        if (after > last + kProbes) return;
      }
    }
  }

  AttemptWriter& writer() {
    if (!writer_) writer_.emplace(db);
    return *writer_;
  }
  Statement& rows_at() {
    if (!rows_at_)
      rows_at_.emplace(db, fmt::format("SELECT {} FROM attempt WHERE run = ? AND episode = ? AND "
                                       "test = ? ORDER BY number",
                                       kColumns));
    return *rows_at_;
  }

  fs::path file;
  std::unique_ptr<WriterLock> lock;
  mutable Database db;
  Damaged damaged;
  std::vector<std::string> damage;

 private:
  std::optional<AttemptWriter> writer_;
  std::optional<Statement> rows_at_;
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Journal Journal::open(const fs::path& name, bool durable) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) require_store_file(name, kWhat);
  auto impl = std::make_unique<Impl>(behind_links(name), true, Damaged::stop);
  // A commit is on the disk when it returns, if `durable`; otherwise the system writes it later.
  impl->db.execute(
      fmt::format("PRAGMA journal_mode = WAL; PRAGMA synchronous = {};", durable ? "FULL" : "OFF"));
  return Journal(std::move(impl));
}

Journal Journal::open_to_read(const fs::path& name, Damaged damaged) {
  require_store_file(name, kWhat);
  return Journal(std::make_unique<Impl>(behind_links(name), false, damaged));
}

const fs::path& Journal::file() const { return impl_->file; }
std::vector<std::string> Journal::damage() const { return impl_->damage; }
std::vector<JournalledRun> Journal::runs() const { return impl_->read_runs(); }

std::int64_t Journal::find_or_add(const JournalledRun& wanted) {
  for (const JournalledRun& run : runs()) {
    if (run.name != wanted.name || run.seed != wanted.seed) continue;
    if (run.identity == wanted.identity) return run.id;
    throw Error(
        Errc::spec,
        fmt::format("{}: run '{}', seed {}, was begun with another spec: {}; only [budget] may "
                    "change, so take back the change, or give the run another name or journal",
                    impl_->file.string(), run.name, run.seed,
                    differences(run.identity, wanted.identity)));
  }
  Database& db = impl_->db;
  JournalledRun run = wanted;
  if (run.program.empty()) run.program = program_name();
  if (run.started.empty()) {
    Statement now(db, "SELECT datetime('now')");
    now.step();
    run.started = now.text(0);
  }
  Statement(db,
            "INSERT INTO run (name, seed, identity, spec, program, started, simulators, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(run.name)
      .bind(static_cast<std::int64_t>(run.seed))
      .bind(run.identity.text())
      .bind(run.spec)
      .bind(run.program)
      .bind(run.started)
      .bind(describe(run.simulators))
      .bind(checksum_of(run))
      .run();
  return db.last_id();
}

void Journal::append(std::int64_t run, const Attempt& attempt) {
  Transaction transaction(impl_->db);
  impl_->writer().append(run, attempt);
  transaction.commit();
}

std::vector<Attempt> Journal::attempts_at(std::int64_t run, const EpisodeAddress& at) const {
  Statement& rows = impl_->rows_at();
  rows.bind(run).bind(static_cast<std::int64_t>(at.episode)).bind(test_of(at));
  std::vector<Attempt> out;
  while (rows.step()) out.push_back(attempt_of(row_of(rows)));
  rows.reset();
  return out;
}

void Journal::for_each_attempt(std::int64_t run,
                               const std::function<void(const Attempt&)>& visit) const {
  impl_->visit_rows(run, [&](const Row& row) { visit(attempt_of(row)); });
}

Spent Journal::spent(std::int64_t run) const {
  Spent spent;
  // In the order of the attempts, so that sums have the same bits as those kept along the way.
  Statement rows(impl_->db,
                 "SELECT episode, test, status = 'finished', steps, cost, cost_source, seconds, "
                 "clock, low_steps, low_seconds FROM attempt WHERE run = ? ORDER BY position");
  rows.bind(run);
  constexpr std::pair<std::int64_t, std::int64_t> kNone = {-1, -1};
  std::pair<std::int64_t, std::int64_t> failing = kNone;  // episode and test
  while (rows.step()) {
    const auto steps = static_cast<std::uint64_t>(rows.integer(3));
    const auto episode = static_cast<std::uint64_t>(rows.integer(0));
    const bool is_test = rows.integer(1) >= 0;
    const std::pair at(rows.integer(0), rows.integer(1));
    ++spent.attempts;
    spent.steps += steps;
    spent.cost += rows.number(4);
    if (rows.text(5) == "reported") ++spent.reported;
    spent.seconds += rows.number(6);
    spent.clock = std::max(spent.clock, rows.number(7));
    if (const auto low_steps = static_cast<std::uint64_t>(rows.integer(8));
        low_steps >= spent.low_steps) {
      spent.low_steps = low_steps;
      spent.low_seconds = std::max(spent.low_seconds, rows.number(9));
    }
    if (rows.integer(2) == 0) {
      ++spent.failed;
      if (failing != at) ++spent.failed_in_a_row;
      failing = at;
      continue;
    }
    failing = kNone;
    spent.failed_in_a_row = 0;
    if (is_test) {
      ++spent.testing;
      continue;
    }
    ++spent.training;
    spent.training_cost += rows.number(4);
    spent.training_steps += steps;
    spent.training_seconds += rows.number(6);
    spent.last_training = std::max(spent.last_training.value_or(0), episode);
  }
  return spent;
}

std::uint64_t Journal::given_up(std::int64_t run, std::uint64_t retries) const {
  Statement row(impl_->db,
                "SELECT count(*) FROM (SELECT 1 FROM attempt WHERE run = ? GROUP BY episode, test "
                "HAVING sum(status = 'finished') = 0 AND count(*) > ?)");
  row.bind(run).bind(static_cast<std::int64_t>(retries));
  return row.step() ? static_cast<std::uint64_t>(row.integer(0)) : 0;
}

std::int64_t Journal::digest(std::int64_t run, std::uint64_t episodes) const {
  Statement rows(impl_->db,
                 "SELECT checksum FROM attempt WHERE run = ? AND test < 0 AND episode < ? "
                 "ORDER BY position");
  rows.bind(run).bind(static_cast<std::int64_t>(episodes));
  Checksum sum;
  while (rows.step()) sum.add(rows.integer(0));
  return sum.value();
}

std::optional<double> Journal::decided(std::int64_t run, const std::string& what) const {
  Statement row(impl_->db, "SELECT value FROM decision WHERE run = ? AND what = ?");
  row.bind(run).bind(what);
  if (!row.step()) return std::nullopt;
  return row.number(0);
}

void Journal::decide(std::int64_t run, const std::string& what, double value) {
  Statement(impl_->db,
            "INSERT INTO decision (run, what, value, checksum) VALUES (?, ?, ?, ?) ON CONFLICT "
            "(run, what) DO UPDATE SET value = excluded.value, checksum = excluded.checksum")
      .bind(run)
      .bind(what)
      .bind(value)
      .bind(checksum_of(run, what, value))
      .run();
}

std::uint64_t Journal::merge(std::span<const Journal> others) {
  Database& db = impl_->db;
  Transaction transaction(db);
  std::uint64_t added = 0;
  for (const Journal& other : others)
    for (const JournalledRun& theirs : other.runs()) {
      const std::int64_t run = find_or_add(theirs);
      other.for_each_attempt(theirs.id, [&](const Attempt& attempt) {
        for (const Attempt& ours : attempts_at(run, attempt.at)) {
          if (ours.number != attempt.number) continue;
          if (ours.failed == attempt.failed && pack(ours.paid) == pack(attempt.paid)) return;
          throw Error(
              Errc::data,
              fmt::format("{}: attempt {} at {} of run '{}' is another one in {}", db.name(),
                          attempt.number, name_of(attempt.at), theirs.name, other.file().string()));
        }
        impl_->writer().append(run, attempt);
        ++added;
      });
      Statement decisions(other.impl_->db, "SELECT what, value FROM decision WHERE run = ?");
      decisions.bind(theirs.id);
      while (decisions.step())
        if (!decided(run, decisions.text(0))) decide(run, decisions.text(0), decisions.number(1));
    }
  transaction.commit();
  return added;
}

}  // namespace hilo
