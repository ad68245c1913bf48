#include "hilo/driver/detail/arrival_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <span>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/driver/detail/episode_bytes.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 31;

bool write_whole(const fs::path& file, std::span<const std::byte> bytes, bool durable) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return false;
  bool done = true;
  while (done && !bytes.empty()) {
    const ssize_t n = ::write(out, bytes.data(), bytes.size());
    done = n > 0 || errno == EINTR;
    if (n > 0) bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  done = done && (!durable || ::fdatasync(out) == 0);
  return ::close(out) == 0 && done;
}

}  // namespace

fs::path ArrivalFiles::file_of(const EpisodeAddress& at, std::uint64_t attempt) const {
  return folder_ / fmt::format("{}-{}{}-{}", hash_hex(run_).substr(0, 16), at.episode,
                               at.test ? fmt::format("-test-{}", *at.test) : "", attempt);
}

void ArrivalFiles::keep(const Arrival& arrival) const noexcept {
  try {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    const fs::path file = file_of(arrival.request.at, arrival.request.attempt);
    const fs::path part = file.string() + ".part";
    if (write_whole(part, to_bytes(arrival), durable_)) fs::rename(part, file, ignored);
  } catch (const std::exception&) {
    // The journal will have it, unless the process is killed before that.
  }
}

std::optional<Arrival> ArrivalFiles::find(const EpisodeAddress& at, std::uint64_t attempt) const {
  const fs::path file = file_of(at, attempt);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    const std::string bytes = read_text_file(file, kMostBytes, Errc::data);
    Arrival arrival = arrival_from_bytes(std::as_bytes(std::span(bytes)));
    if (arrival.request.at == at && arrival.request.attempt == attempt) return arrival;
  } catch (const Error&) {
    // Damaged: the episode is made again.
  }
  return std::nullopt;
}

void ArrivalFiles::forget(const EpisodeAddress& at, std::uint64_t attempt) const noexcept {
  try {
    std::error_code ignored;
    fs::remove(file_of(at, attempt), ignored);
  } catch (const std::exception&) {
    // It is not looked at any more.
  }
}

void ArrivalFiles::remove() const noexcept {
  std::error_code ignored;
  fs::remove(folder_, ignored);  // unless another run has files in it
}

}  // namespace hilo
