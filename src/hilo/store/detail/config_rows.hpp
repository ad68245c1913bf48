#pragma once

#include <string>

#include "hilo/experiment/configuration.hpp"
#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: configurations as rows of a store.
namespace hilo {

// The values of the configuration with this hash, or of as much as damage has left of them.
Configuration read_config(Database& db, const std::string& hash);

// Does nothing if it is there already. Throws if the hash stands for other values.
void insert_config(Database& db, const std::string& hash, const Configuration& configuration);

// Fills the table of values from the texts that stores had up to version 3.
void split_config_texts(Database& db);

}  // namespace hilo
