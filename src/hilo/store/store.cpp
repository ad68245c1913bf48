#include "hilo/store/store.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>

#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/store/store_impl.hpp"

// The half of Store that opens and writes.
namespace hilo {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

void merge_specs(Database& from, Database& to) {
  Statement rows(from, "SELECT name, spec FROM experiment");
  Statement insert(to, "INSERT OR IGNORE INTO experiment (name, spec) VALUES (?, ?)");
  while (rows.step()) insert.bind(rows.text(0)).bind(rows.text(1)).run();
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

  Statement(db,
            "INSERT INTO run (config, seed, algorithm_version, host, machine, program, finished, "
            "error) VALUES (?, ?, ?, ?, ?, ?, datetime('now'), nullif(?, ''))")
      .bind(record.key.config)
      .bind(seed)
      .bind(version)
      .bind(record.host.empty() ? host_name() : record.host)
      .bind(record.machine.empty() ? machine_name() : record.machine)
      .bind(program_name())
      .bind(record.failed ? record.error : "")
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
  if (!record.standard_errors.empty())
    Statement(db, "INSERT INTO policy_error (run, standard_error) VALUES (?, ?)")
        .bind(run)
        .bind(std::span<const std::byte>(compress_values(record.standard_errors)))
        .run();
  transaction.commit();
}

void Store::keep_diagnosis(const std::string& experiment, const std::string& json) {
  Statement(impl_->db, "INSERT OR REPLACE INTO diagnosis (experiment, json) VALUES (?, ?)")
      .bind(experiment)
      .bind(json)
      .run();
}

std::vector<std::string> Store::define_experiment(const Spec& spec) {
  Database& db = impl_->db;
  Transaction transaction(db);
  std::vector<std::string> dropped;
  for (const Reference& old : references(db, spec.name)) {
    const auto is_same = [&](const RunConfig& config) {
      return config.hash == old.config && config.agent->algorithm_version == old.version;
    };
    if (std::ranges::any_of(spec.configs, [&](const RunConfig& config) {
          return is_same(config) && config.label == old.agent;
        }))
      continue;
    const auto same = std::ranges::find_if(spec.configs, is_same);
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
  Statement(db, "INSERT OR REPLACE INTO experiment (name, spec) VALUES (?, ?)")
      .bind(spec.name)
      .bind(spec.text)
      .run();
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
    merge_specs(from, db);
    copy_runs(from, db);
    copy_diagnoses(from, db);
  }
  transaction.commit();
}

}  // namespace hilo
