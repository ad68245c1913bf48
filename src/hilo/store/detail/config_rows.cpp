#include "hilo/store/detail/config_rows.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

void insert_values(Database& db, const std::string& hash, const Configuration& configuration) {
  Statement insert(db,
                   "INSERT INTO config_value (config, position, key, value) VALUES (?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const Configuration::Entry& entry : configuration.entries())
    insert.bind(hash).bind(position++).bind(entry.key).bind(entry.value).run();
}

}  // namespace

Configuration read_config(Database& db, const std::string& hash) {
  Statement rows(db, "SELECT key, value FROM config_value WHERE config = ? ORDER BY position");
  rows.bind(hash);
  Configuration configuration;
  while (rows.step()) configuration.add(rows.text(0), rows.text(1));
  return configuration;
}

void insert_config(Database& db, const std::string& hash, const Configuration& configuration) {
  Statement known(db, "SELECT 1 FROM config WHERE hash = ?");
  known.bind(hash);
  if (!known.step()) {
    Statement(db, "INSERT INTO config (hash) VALUES (?)").bind(hash).run();
    insert_values(db, hash, configuration);
  }
  if (configuration.hash() != hash || read_config(db, hash) != configuration)
    throw Error(Errc::data, fmt::format("{}: the store is damaged, or two configurations have the "
                                        "hash {}",
                                        db.name(), hash));
}

void split_config_texts(Database& db) {
  Statement texts(db, "SELECT hash, canonical FROM main.config");
  while (texts.step()) insert_values(db, texts.text(0), Configuration::from_text(texts.text(1)));
}

}  // namespace hilo
