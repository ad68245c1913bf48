#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hilo::cli {

// JSON as the commands print it. File names need not be valid UTF-8: invalid bytes are replaced.
inline std::string json_text(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hilo::cli
