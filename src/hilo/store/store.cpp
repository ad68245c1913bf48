#include "hilo/store/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "hilo/core/error.hpp"
#include "hilo/store/schema.hpp"
#include "hilo/store/sqlite.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

// Held by the one writer: a lock on a file beside the store, which the system lets go of when the
// process ends, however it ends.
class WriterLock {
 public:
  explicit WriterLock(const fs::path& store) : file_(store.string() + ".lock") {
    // The last writer removes the file while it holds the lock, so a lock on a file that is no
    // longer there is worth nothing: try again.
    do {
      if (descriptor_ >= 0) ::close(descriptor_);
      descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (descriptor_ < 0)
        throw Error(Errc::io, fmt::format("{}: the store cannot be written: {}", store.string(),
                                          std::generic_category().message(errno)));
      if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        ::close(descriptor_);
        throw Error(Errc::io,
                    fmt::format("{}: the store is in use by another process", store.string()));
      }
    } while (!is_current());
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock() {
    ::unlink(file_.c_str());
    ::close(descriptor_);
  }

 private:
  bool is_current() const {
    struct stat ours {};
    struct stat there {};
    return ::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &there) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  }

  std::string file_;
  int descriptor_ = -1;
};

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::vector<std::byte> compress_values(const std::vector<double>& values) {
  const auto* data = reinterpret_cast<const Bytef*>(values.data());
  const uLong size = values.size() * sizeof(double);
  std::vector<std::byte> out(compressBound(size));
  uLongf out_size = out.size();
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &out_size, data, size, Z_BEST_SPEED) != Z_OK)
    throw Error(Errc::io, "a policy cannot be compressed");
  out.resize(out_size);
  return out;
}

std::vector<double> expand_values(const std::vector<std::byte>& bytes, std::size_t count,
                                  const std::string& name) {
  std::vector<double> values(count);
  uLongf size = count * sizeof(double);
  const int code =
      uncompress(reinterpret_cast<Bytef*>(values.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (code != Z_OK || size != count * sizeof(double))
    throw Error(Errc::data, fmt::format("{}: the store is damaged: a policy cannot be read", name));
  return values;
}

void require_store_file(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw Error(Errc::io, fmt::format("{}: there is no such store", file.string()));
  if (!fs::is_regular_file(file, ignored))
    throw Error(Errc::data, fmt::format("{}: is not a hilo store", file.string()));
}

// Where a link leads, there or not yet: the lock and the log stand beside the file itself.
fs::path behind_links(fs::path file) {
  std::error_code error;
  for (int depth = 0; depth < 40 && fs::is_symlink(file, error); ++depth)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file;
}

// A store that was cut short still has its header; its length gives it away at once.
void require_full_length(Database& db, const fs::path& file) {
  const auto expected = db.pragma("page_count") * db.pragma("page_size");
  std::error_code error;
  const auto actual = static_cast<std::int64_t>(fs::file_size(file, error));
  if (fs::exists(file.string() + "-wal")) return;  // pages may still be there
  if (error || actual < expected)
    throw Error(Errc::data, fmt::format("{}: the store is damaged: it has {} bytes instead of {}",
                                        file.string(), actual, expected));
}

void require_ours(Database& db) {
  const std::int64_t id = db.pragma("application_id");
  if (id != kApplicationId)
    throw Error(Errc::data, fmt::format("{}: is not a hilo store", db.name()));
  const std::int64_t version = db.pragma("user_version");
  if (version != Store::kSchemaVersion)
    throw Error(Errc::data, fmt::format("{}: the store has version {}, but this program reads "
                                        "version {}",
                                        db.name(), version, Store::kSchemaVersion));
}

void require_undamaged(Database& db) {
  Statement check(db, "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) != "ok") {
    std::string reason = check.text(0);
    std::ranges::replace(reason, '\n', ' ');
    throw Error(Errc::data, fmt::format("{}: the store is damaged: {}", db.name(), reason));
  }
}

}  // namespace

struct Store::Impl {
  Impl(const fs::path& file, bool write)
      : lock(write ? std::make_unique<WriterLock>(file) : nullptr), db(open(file, write)) {
    require_ours(db);
    require_full_length(db, file);
    if (write) {
      require_undamaged(db);
      // A write-ahead log: commits need no sync, a killed process loses nothing it committed, and
      // others can read meanwhile.
      db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    }
    db.execute("PRAGMA foreign_keys = ON");
  }

  // With the lock held. A new store is made beside its place and then moved there, so that a store
  // is there as a whole or not at all, whenever the process is killed.
  static Database open(const fs::path& file, bool write) {
    if (!write) return {file, Database::Mode::read};
    std::error_code ignored;
    if (!fs::exists(file) || fs::file_size(file, ignored) == 0) {
      const fs::path made = file.string() + ".new";
      fs::remove(made, ignored);
      fs::remove(made.string() + "-journal", ignored);
      Database(made, Database::Mode::create).execute(schema());
      fs::rename(made, file, ignored);
      if (ignored)
        throw Error(Errc::io, fmt::format("{}: the store cannot be made: {}", file.string(),
                                          ignored.message()));
    }
    return {file, Database::Mode::write};
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // A store at rest is one file, readable where nothing can be written.
  ~Impl() {
    if (!lock) return;
    try {
      db.pragma("journal_mode = DELETE");
    } catch (const Error&) {
      // A reader is still there; the log stays until the next writer leaves.
    }
  }

  std::unique_ptr<WriterLock> lock;
  mutable Database db;
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) require_store_file(name);
  return Store(std::make_unique<Impl>(behind_links(name), true));
}

Store Store::open_to_read(const fs::path& name) {
  require_store_file(name);
  return Store(std::make_unique<Impl>(behind_links(name), false));
}

std::set<RunKey> Store::finished() const {
  std::set<RunKey> keys;
  Statement rows(impl_->db, "SELECT config, seed, algorithm_version FROM run WHERE error IS NULL");
  while (rows.step())
    keys.insert({rows.text(0), static_cast<std::uint64_t>(rows.integer(1)),
                 static_cast<std::uint32_t>(rows.integer(2))});
  return keys;
}

namespace {

void insert_config(Database& db, const std::string& hash, const std::string& canonical) {
  Statement(db, "INSERT OR IGNORE INTO config (hash, canonical) VALUES (?, ?)")
      .bind(hash)
      .bind(canonical)
      .run();
  Statement stored(db, "SELECT canonical FROM config WHERE hash = ?");
  stored.bind(hash);
  if (!stored.step() || stored.text(0) != canonical)
    throw Error(Errc::data,
                fmt::format("{}: two configurations have the hash {}", db.name(), hash));
}

// What a label of an experiment means.
struct Reference {
  std::string agent, config;
  std::int64_t version;
};

std::vector<Reference> references(Database& db, const std::string& experiment) {
  Statement rows(db,
                 "SELECT DISTINCT agent, config, algorithm_version FROM experiment_run "
                 "WHERE experiment = ?");
  rows.bind(experiment);
  std::vector<Reference> out;
  while (rows.step()) out.push_back({rows.text(0), rows.text(1), rows.integer(2)});
  return out;
}

// Throws if a label of an experiment means one thing here and another there.
void merge_references(Database& from, Database& to) {
  Statement rows(from,
                 "SELECT experiment, agent, config, seed, algorithm_version FROM experiment_run");
  Statement known(to,
                  "SELECT 1 FROM experiment_run WHERE experiment = ? AND agent = ? "
                  "AND NOT (config = ? AND algorithm_version = ?) LIMIT 1");
  Statement insert(to, "INSERT OR IGNORE INTO experiment_run VALUES (?, ?, ?, ?, ?)");
  while (rows.step()) {
    known.bind(rows.text(0)).bind(rows.text(1)).bind(rows.text(2)).bind(rows.integer(4));
    if (known.step())
      throw Error(Errc::data,
                  fmt::format("{}: agent '{}' of experiment '{}' is another one in {}; rename one "
                              "of them",
                              to.name(), rows.text(1), rows.text(0), from.name()));
    known.reset();
    insert.bind(rows.text(0)).bind(rows.text(1)).bind(rows.text(2));
    insert.bind(rows.integer(3)).bind(rows.integer(4)).run();
  }
}

std::int64_t metric_id(Database& db, const std::string& metric) {
  Statement(db, "INSERT OR IGNORE INTO metric (name) VALUES (?)").bind(metric).run();
  Statement id(db, "SELECT id FROM metric WHERE name = ?");
  id.bind(metric);
  id.step();
  return id.integer(0);
}

}  // namespace

void Store::append(const RunRecord& record) {
  Database& db = impl_->db;
  Transaction transaction(db);
  const auto seed = static_cast<std::int64_t>(record.key.seed);
  const std::int64_t version = record.key.algorithm_version;
  insert_config(db, record.key.config, record.canonical);
  Statement(db,
            "DELETE FROM run WHERE config = ? AND seed = ? AND algorithm_version = ? "
            "AND error IS NOT NULL")
      .bind(record.key.config)
      .bind(seed)
      .bind(version)
      .run();
  Statement exists(db, "SELECT 1 FROM run WHERE config = ? AND seed = ? AND algorithm_version = ?");
  exists.bind(record.key.config).bind(seed).bind(version);
  if (exists.step()) return;

  if (record.failed)
    Statement(db,
              "INSERT INTO run (config, seed, algorithm_version, host, finished, error) "
              "VALUES (?, ?, ?, ?, datetime('now'), ?)")
        .bind(record.key.config)
        .bind(seed)
        .bind(version)
        .bind(host_name())
        .bind(record.error)
        .run();
  else
    Statement(db,
              "INSERT INTO run (config, seed, algorithm_version, host, finished) "
              "VALUES (?, ?, ?, ?, datetime('now'))")
        .bind(record.key.config)
        .bind(seed)
        .bind(version)
        .bind(host_name())
        .run();
  const std::int64_t run = db.last_id();

  std::map<std::string, std::int64_t> ids;
  Statement insert(db, "INSERT INTO measurement (run, metric, episode, value) VALUES (?, ?, ?, ?)");
  for (const Measurement& m : record.measurements) {
    auto id = ids.find(m.metric);
    if (id == ids.end()) id = ids.emplace(m.metric, metric_id(db, m.metric)).first;
    insert.bind(run)
        .bind(id->second)
        .bind(static_cast<std::int64_t>(m.episode))
        .bind(m.value)
        .run();
  }
  if (!record.q.empty())
    Statement(db, "INSERT INTO policy (run, num_states, num_actions, q) VALUES (?, ?, ?, ?)")
        .bind(run)
        .bind(static_cast<std::int64_t>(record.num_states))
        .bind(static_cast<std::int64_t>(record.num_actions))
        .bind(std::span<const std::byte>(compress_values(record.q)))
        .run();
  transaction.commit();
}

std::vector<std::string> Store::define_experiment(const Spec& spec) {
  Database& db = impl_->db;
  Transaction transaction(db);
  std::vector<std::string> dropped;
  for (const Reference& old : references(db, spec.name)) {
    const auto same = std::ranges::find_if(spec.configs, [&](const RunConfig& config) {
      return config.hash == old.config && config.agent->algorithm_version == old.version;
    });
    if (same != spec.configs.end() && same->label == old.agent) continue;
    if (same != spec.configs.end())  // the same agent under a new label keeps its seeds
      Statement(db,
                "UPDATE OR IGNORE experiment_run SET agent = ? WHERE experiment = ? AND agent = ? "
                "AND config = ? AND algorithm_version = ?")
          .bind(same->label)
          .bind(spec.name)
          .bind(old.agent)
          .bind(old.config)
          .bind(old.version)
          .run();
    else
      dropped.push_back(old.agent);
    Statement(db,
              "DELETE FROM experiment_run WHERE experiment = ? AND agent = ? AND config = ? "
              "AND algorithm_version = ?")
        .bind(spec.name)
        .bind(old.agent)
        .bind(old.config)
        .bind(old.version)
        .run();
  }
  Statement insert(db,
                   "INSERT OR IGNORE INTO experiment_run "
                   "(experiment, agent, config, seed, algorithm_version) VALUES (?, ?, ?, ?, ?)");
  for (const RunConfig& config : spec.configs) {
    insert_config(db, config.hash, config.canonical);
    for (std::uint64_t seed = spec.seeds.first; seed <= spec.seeds.last; ++seed)
      insert.bind(spec.name)
          .bind(config.label)
          .bind(config.hash)
          .bind(static_cast<std::int64_t>(seed))
          .bind(std::int64_t{config.agent->algorithm_version})
          .run();
  }
  transaction.commit();
  return dropped;
}

void Store::merge(std::span<const Store> others) {
  Database& db = impl_->db;
  Transaction transaction(db);
  for (const Store& other : others) {
    // Read through the other connection: attaching a file would need a lock on it.
    Database& from = other.impl_->db;
    Statement configs(from, "SELECT hash, canonical FROM config");
    while (configs.step()) insert_config(db, configs.text(0), configs.text(1));
    merge_references(from, db);
    copy_runs(from, db);
  }
  transaction.commit();
}

std::vector<std::string> Store::experiments() const {
  Statement rows(impl_->db, "SELECT DISTINCT experiment FROM experiment_run ORDER BY experiment");
  std::vector<std::string> names;
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

std::string Store::config_of(const std::string& experiment, const std::string& agent) const {
  for (const Reference& reference : references(impl_->db, experiment))
    if (reference.agent == agent) return reference.config;
  return "";
}

std::vector<std::string> Store::agents(const std::string& experiment) const {
  Statement rows(impl_->db,
                 "SELECT DISTINCT agent FROM experiment_run WHERE experiment = ? ORDER BY agent");
  rows.bind(experiment);
  std::vector<std::string> names;
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

void Store::for_each_result(const std::string& experiment,
                            const std::function<void(const ResultRow&)>& visit) const {
  // Run by run, so that nothing has to be sorted but one run's rows.
  Statement runs(impl_->db,
                 "SELECT e.experiment, e.agent, e.seed, r.id FROM experiment_run e JOIN run r "
                 "USING (config, seed, algorithm_version) WHERE r.error IS NULL "
                 "AND (?1 = '' OR e.experiment = ?1) ORDER BY 1, 2, 3");
  runs.bind(experiment);
  Statement rows(impl_->db,
                 "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                 "ON n.id = m.metric WHERE m.run = ? ORDER BY 1, 2");
  ResultRow row;
  while (runs.step()) {
    row.experiment = runs.text(0);
    row.agent = runs.text(1);
    row.seed = static_cast<std::uint64_t>(runs.integer(2));
    rows.bind(runs.integer(3));
    while (rows.step()) {
      row.episode = static_cast<std::uint64_t>(rows.integer(0));
      row.metric = rows.text(1);
      row.value = rows.number(2);
      visit(row);
    }
    rows.reset();
  }
}

std::vector<FailedRun> Store::failed_runs(const std::string& experiment) const {
  Statement rows(impl_->db,
                 "SELECT e.experiment, e.agent, e.seed, r.error FROM experiment_run e JOIN run r "
                 "USING (config, seed, algorithm_version) WHERE r.error IS NOT NULL "
                 "AND (?1 = '' OR e.experiment = ?1) ORDER BY 1, 2, 3");
  rows.bind(experiment);
  std::vector<FailedRun> failed;
  while (rows.step())
    failed.push_back(
        {rows.text(0), rows.text(1), static_cast<std::uint64_t>(rows.integer(2)), rows.text(3)});
  return failed;
}

StoredPolicy Store::policy(const std::string& experiment, const std::string& agent,
                           std::uint64_t seed) const {
  Statement row(impl_->db,
                "SELECT p.num_states, p.num_actions, p.q FROM experiment_run e JOIN run r "
                "USING (config, seed, algorithm_version) JOIN policy p ON p.run = r.id "
                "WHERE e.experiment = ? AND e.agent = ? AND e.seed = ?");
  row.bind(experiment).bind(agent).bind(static_cast<std::int64_t>(seed));
  if (!row.step())
    throw Error(Errc::usage,
                fmt::format("{}: no policy of experiment '{}', agent '{}', seed {}; the store has "
                            "the experiments {} and the agents {}",
                            impl_->db.name(), experiment, agent, seed,
                            fmt::join(experiments(), ", "), fmt::join(agents(experiment), ", ")));
  StoredPolicy policy{.experiment = experiment,
                      .agent = agent,
                      .seed = seed,
                      .num_states = static_cast<std::uint64_t>(row.integer(0)),
                      .num_actions = static_cast<std::uint64_t>(row.integer(1)),
                      .q = {}};
  constexpr std::uint64_t kMany = 1U << 30;
  if (policy.num_states == 0 || policy.num_actions == 0 || policy.num_states > kMany ||
      policy.num_actions > kMany / policy.num_states)
    throw Error(Errc::data, fmt::format("{}: the store is damaged: a policy has no sensible size",
                                        impl_->db.name()));
  policy.q = expand_values(row.blob(2), policy.num_states * policy.num_actions, impl_->db.name());
  return policy;
}

}  // namespace hilo
