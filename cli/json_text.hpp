#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hilo::cli {

// As it is printed. Names of files need not be text: bytes that are none are replaced.
inline std::string json_text(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hilo::cli
