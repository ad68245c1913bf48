#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hilo {

// Why something failed. The value is also the exit code of the command line program.
enum class Errc : std::uint8_t {
  usage = 2,      // the call itself makes no sense
  spec = 3,       // an option or a key has a value that is not allowed
  data = 4,       // a file or a table holds something that is not allowed
  io = 5,         // the operating system refused to read or write
  simulator = 6,  // a simulator broke its contract
};

// The only exception type the library throws. The message says what was given, what is allowed,
// and where.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Errc code() const { return code_; }

 private:
  Errc code_;
};

// Throws "epsilon is 1.5, but must be in [0, 1]" unless low <= value <= high. A NaN always throws.
void require_within(std::string_view name, double value, double low, double high,
                    Errc code = Errc::spec);

// The same for whole numbers, so that the message shows no decimal point.
void require_within(std::string_view name, std::uint64_t value, std::uint64_t low,
                    std::uint64_t high, Errc code = Errc::spec);

}  // namespace hilo
