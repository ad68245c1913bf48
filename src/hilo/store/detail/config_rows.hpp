#pragma once

#include <string>

#include "hilo/experiment/configuration.hpp"
#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: configurations as rows of a store.
namespace hilo {

// The values of the configuration with this hash. In a damaged store some may be missing or wrong.
Configuration read_config(Database& db, const std::string& hash);

// Adds the configuration unless the store has it. Throws if the store has other values under this
// hash, or if it is not the hash of the configuration.
void insert_config(Database& db, const std::string& hash, const Configuration& configuration);

// Fills the table config_value from the configuration texts of stores up to version 3.
void split_config_texts(Database& db);

}  // namespace hilo
