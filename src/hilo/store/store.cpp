#include "hilo/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/store/detail/policy_bytes.hpp"
#include "hilo/store/detail/store_impl.hpp"

// The part of Store that opens and writes.
namespace hilo {

namespace fs = std::filesystem;

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) require_store_file(name);
  return Store(std::make_unique<Impl>(behind_links(name), true, Damaged::stop));
}

const fs::path& Store::file() const { return impl_->file; }

std::string Store::close() {
  impl_->require_in_place();
  const std::string name = impl_->file.string();
  const bool whole = impl_->rest();
  impl_.reset();
  return whole ? ""
               : fmt::format(
                     "{}: is being read by another process, so that a part of it is "
                     "still in {}-wal; until hilo writes to it again, copy both",
                     name, name);
}

void Store::discard_if_new() {
  std::error_code ignored;
  if (impl_->is_new && identity_of(impl_->file) == impl_->identity) {
    impl_->rest();
    fs::remove(impl_->file, ignored);
    impl_->lock.reset();  // so that close() does not report the file as lost
  }
}

Store Store::open_to_read(const fs::path& name, Damaged damaged) {
  require_store_file(name);
  return Store(std::make_unique<Impl>(behind_links(name), false, damaged));
}

namespace {

// What a label of an experiment stands for.
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
  if (impl_->is_lost) impl_->require_in_place();
  Transaction transaction(db);
  const auto seed = static_cast<std::int64_t>(record.key.seed);
  const std::int64_t version = record.key.algorithm_version;
  insert_config(db, record.key.config, record.configuration);
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
  if (!record.policy.empty())
    Statement(db, "INSERT INTO policy (run, kind, shape, bytes) VALUES (?, ?, ?, ?)")
        .bind(run)
        .bind(record.policy.kind)
        .bind(record.policy.shape)
        .bind(std::span<const std::byte>(record.policy.bytes))
        .run();
  if (!record.standard_errors.empty())
    Statement(db, "INSERT INTO policy_error (run, standard_error) VALUES (?, ?)")
        .bind(run)
        .bind(std::span<const std::byte>(deflate_values(record.standard_errors)))
        .run();
  set_checksum_of_run(db, run);
  transaction.commit();
  impl_->require_in_place();
}

void Store::keep_diagnosis(const std::string& experiment, const std::string& json) {
  Statement(impl_->db,
            "INSERT INTO diagnosis (experiment, json, checksum) VALUES (?, ?, ?) ON CONFLICT "
            "(experiment) DO UPDATE SET json = excluded.json, checksum = excluded.checksum")
      .bind(experiment)
      .bind(json)
      .bind(checksum_of_diagnosis(experiment, json))
      .run();
  impl_->require_in_place();
}

std::vector<std::string> Store::define_experiment(const Spec& spec) {
  Database& db = impl_->db;
  if (impl_->knows(spec.name)) impl_->require_intact(spec.name);
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
  Statement(db,
            "INSERT INTO experiment (name, spec) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
            "spec = excluded.spec")
      .bind(spec.name)
      .bind(spec.text)
      .run();
  Statement insert(db,
                   "INSERT OR IGNORE INTO experiment_run "
                   "(experiment, agent, config, seed, algorithm_version) VALUES (?, ?, ?, ?, ?)");
  for (const RunConfig& config : spec.configs) {
    insert_config(db, config.hash, config.configuration);
    for (std::uint64_t seed = spec.seeds.first; seed <= spec.seeds.last; ++seed)
      insert.bind(spec.name)
          .bind(config.label)
          .bind(config.hash)
          .bind(static_cast<std::int64_t>(seed))
          .bind(std::int64_t{config.agent->algorithm_version})
          .run();
  }
  set_checksum_of_experiment(db, spec.name);
  transaction.commit();
  impl_->require_in_place();
  return dropped;
}

}  // namespace hilo
