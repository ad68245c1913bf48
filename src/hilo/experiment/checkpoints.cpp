#include "hilo/experiment/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "hilo/experiment/resumable_run.hpp"

namespace hilo {

namespace fs = std::filesystem;

Checkpoints Checkpoints::beside(const fs::path& store, double every) {
  std::error_code ignored;
  return Checkpoints(fs::weakly_canonical(store, ignored).string() + ".running", every);
}

fs::path Checkpoints::file_of(const RunKey& run) const {
  return folder_ / fmt::format("{}-{}-{}.run", run.config, run.seed, run.algorithm_version);
}

namespace {

// Only one process at a time works on a run, so the name does not have to identify the process.
fs::path unfinished(const fs::path& file) { return file.string() + ".part"; }

}  // namespace

std::optional<std::vector<std::byte>> Checkpoints::find(const RunKey& run) const {
  std::ifstream in(file_of(run), std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void Checkpoints::keep(const RunKey& run, std::span<const std::byte> bytes) const {
  const fs::path file = file_of(run);
  std::error_code failed;
  // Tries twice, because another run that removes the last other checkpoint may remove the folder
  // in between. A full disk is no reason to stop: work is lost only if the run is killed.
  for (int attempt = 0; attempt < 2; ++attempt) {
    fs::create_directories(folder_, failed);
    std::ofstream out(unfinished(file), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) continue;
    fs::rename(unfinished(file), file, failed);
    if (!failed) return;
  }
  fs::remove(unfinished(file), failed);
}

void Checkpoints::remove(const RunKey& run) const {
  std::error_code ignored;
  const fs::path file = file_of(run);
  fs::remove(unfinished(file), ignored);  // of a process that was killed while it wrote it
  fs::remove(file, ignored);
  fs::remove(folder_, ignored);  // if it is empty
}

CheckpointTimer::CheckpointTimer(const Checkpoints* checkpoints) : checkpoints_(checkpoints) {
  if (checkpoints_ != nullptr) next_ = Clock::now() + seconds(checkpoints_->every());
}

void CheckpointTimer::keep_if_due(const RunKey& key, const ResumableRun& run) {
  if (checkpoints_ != nullptr && Clock::now() >= next_) keep(key, run);
}

void CheckpointTimer::keep(const RunKey& key, const ResumableRun& run) {
  if (checkpoints_ == nullptr || !run.can_be_saved()) return;
  const Clock::time_point start = Clock::now();
  try {
    checkpoints_->keep(key, run.save());
  } catch (const std::exception&) {
    // For example, there is not enough memory. The run must not fail because of that.
  }
  const std::chrono::duration<double> took = Clock::now() - start;
  next_ = Clock::now() + seconds(std::max(checkpoints_->every(), took.count() * kLongest));
}

}  // namespace hilo
