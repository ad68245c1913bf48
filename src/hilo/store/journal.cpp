#include "hilo/store/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/store/detail/attempt_rows.hpp"
#include "hilo/store/detail/checksum.hpp"
#include "hilo/store/detail/journal_runs.hpp"
#include "hilo/store/detail/journal_schema.hpp"
#include "hilo/store/detail/journal_sums.hpp"
#include "hilo/store/detail/path_bytes.hpp"
#include "hilo/store/detail/sqlite.hpp"
#include "hilo/store/detail/store_file.hpp"
#include "hilo/store/detail/writer_lock.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhat = "journal";

std::int64_t checksum_of(std::int64_t run, const std::string& what, double value) {
  return Checksum().add(run).add(what).add(value).value();
}

std::int64_t test_of(const EpisodeAddress& at) {
  return at.test ? static_cast<std::int64_t>(*at.test) : -1;
}

std::string name_of(const EpisodeAddress& at) {
  return at.test ? fmt::format("episode {} of the test after {} training episodes", *at.test,
                               at.episode)
                 : fmt::format("training episode {}", at.episode);
}

}  // namespace

struct Journal::Impl {
  Impl(fs::path journal_file, bool write, Damaged on_damage)
      : file(std::move(journal_file)),
        lock(write ? std::make_unique<WriterLock>(file, kWhat) : nullptr),
        db(open_database(file, write, journal_schema(), kWhat)),
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

  // A run with which nothing was done yet: its spec may have had a mistake. Returns whether it was
  // one.
  bool discard_if_nothing_paid(std::int64_t run) {
    Statement any(db,
                  "SELECT EXISTS (SELECT 1 FROM attempt WHERE run = ?) OR "
                  "EXISTS (SELECT 1 FROM decision WHERE run = ?)");
    any.bind(run).bind(run);
    any.step();
    if (any.integer(0) != 0) return false;
    Statement(db, "DELETE FROM run WHERE id = ?").bind(run).run();
    return true;
  }

  // All rows are where they should be, and are what was written.
  void verify(const JournalledRun& run) {
    std::int64_t expected = 1;
    visit_rows(run.id, [&](const AttemptRow& row) {
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
    const auto accept = [&](const AttemptRow& row) {
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
                                     attempt_columns()));
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
                                       attempt_columns()));
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
    if (impl_->discard_if_nothing_paid(run.id)) break;
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
      .bind(lines_of(run.simulators))
      .bind(checksum_of(run))
      .run();
  return db.last_id();
}

void Journal::append(std::int64_t run, const Attempt& attempt) {
  Transaction transaction(impl_->db);
  impl_->writer().append(run, attempt);
  transaction.commit();
}

void Journal::append_all(std::int64_t run, std::span<const Attempt> attempts) {
  Transaction transaction(impl_->db);
  for (const Attempt& attempt : attempts) impl_->writer().append(run, attempt);
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
  impl_->visit_rows(run, [&](const AttemptRow& row) { visit(attempt_of(row)); });
}

void Journal::for_each_test(std::int64_t run,
                            const std::function<void(const Attempt&)>& visit) const {
  Statement rows(impl_->db,
                 "SELECT episode, test, number, status != 'finished', steps, cost FROM attempt "
                 "WHERE run = ? AND test >= 0 ORDER BY episode, test, number");
  rows.bind(run);
  while (rows.step())
    visit({.at = {.episode = static_cast<std::uint64_t>(rows.integer(0)),
                  .test = static_cast<std::uint64_t>(rows.integer(1))},
           .number = static_cast<std::uint64_t>(rows.integer(2)),
           .failed = rows.integer(3) != 0,
           .steps = static_cast<std::uint64_t>(rows.integer(4)),
           .cost = rows.number(5)});
}

Spent Journal::spent(std::int64_t run) const { return sum_of_attempts(impl_->db, run); }

std::uint64_t Journal::finished_among_first(std::int64_t run, std::uint64_t episodes) const {
  Statement row(impl_->db,
                "SELECT count(*) FROM attempt WHERE run = ? AND episode < ? AND test < 0 AND "
                "status = 'finished'");
  row.bind(run).bind(static_cast<std::int64_t>(episodes));
  return row.step() ? static_cast<std::uint64_t>(row.integer(0)) : 0;
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
