#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hilo/core/error.hpp"

namespace hilo::testing {

// Expects `action` to throw an Error of this code whose message holds every given part.
template <class F>
void expect_error(F&& action, Errc code, const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one about '" << parts[0] << "'";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << e.what();
  }
}

}  // namespace hilo::testing
