#include "hilo/core/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLooksAt = 1024;
constexpr const char* kStoreMark = "SQLite format 3";
// Suffixes of the files that lie beside a store while it is used.
constexpr const char* kBesideStore[] = {"-wal", "-shm", "-journal", ".lock"};

std::string first_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kLooksAt, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// Compares device and inode, so that links and different spellings of a path do not matter.
bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool is_within(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (is_same_file(file, entry->path())) return true;
  return false;
}

bool is_beside(const fs::path& file, const fs::path& input) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(fs::absolute(file, error), error);
  const fs::path store = fs::weakly_canonical(fs::absolute(input, error), error);
  return std::ranges::any_of(kBesideStore,
                             [&](const char* suffix) { return full == store.string() + suffix; });
}

// Whether the file is a log or a lock of any store, recognised by its name or its first bytes.
bool belongs_to_a_store(const fs::path& file) {
  const std::string head = first_bytes(file);
  if (head.starts_with("\x37\x7f\x06\x82") || head.starts_with("\x37\x7f\x06\x83")) return true;
  return std::ranges::any_of(kBesideStore, [&](const std::string& suffix) {
    const std::string name = file.string();
    return name.ends_with(suffix) &&
           first_bytes(name.substr(0, name.size() - suffix.size())).starts_with(kStoreMark);
  });
}

// Follows symbolic links to the file behind a name, which need not exist yet.
fs::path behind_links(const fs::path& name) {
  fs::path file = name;
  std::error_code error;
  for (int depth = 0; fs::is_symlink(file, error); ++depth) {
    if (depth == 40)
      throw Error(Errc::io,
                  fmt::format("{}: cannot be written: its links lead in a circle", name.string()));
    file = file.parent_path() / fs::read_symlink(file, error);
  }
  return file;
}

std::string why_not_writable(const fs::path& file) {
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (fs::is_directory(file, error)) return "it is a folder";
  if (!fs::exists(folder, error)) return fmt::format("there is no folder {}", folder.string());
  if (!fs::is_directory(folder, error)) return fmt::format("{} is no folder", folder.string());
  return std::generic_category().message(errno);
}

}  // namespace

void require_writable(const fs::path& name, const Overwrite& overwrite) {
  const fs::path file = behind_links(name);
  // A file with hilo's mark in an input folder is an output that an earlier command put there.
  const bool is_ours =
      !overwrite.mark.empty() && !overwrite.force && first_bytes(file).starts_with(overwrite.mark);
  for (const fs::path& input : overwrite.inputs)
    if (is_same_file(file, input) || (!is_ours && is_within(file, input)) || is_beside(file, input))
      throw Error(Errc::usage, fmt::format("{}: is read by the same command, or belongs to what is "
                                           "({}); give another name",
                                           name.string(), input.string()));
  std::error_code ignored;
  if (belongs_to_a_store(file))
    throw Error(Errc::usage, fmt::format("{}: belongs to a store, and nothing is written over it; "
                                         "give another name",
                                         name.string()));
  if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) == 0) return;
  const std::string head = first_bytes(file);
  if (head.starts_with(kStoreMark))
    throw Error(Errc::usage,
                fmt::format("{}: is a store, which nothing is written over; give another name",
                            name.string()));
  if (!overwrite.force && head.find(overwrite.mark) == std::string::npos)
    throw Error(Errc::usage,
                fmt::format("{}: is there already, and hilo did not write it, or not as such a "
                            "file; give another name, or force it (--force, force=True)",
                            name.string()));
}

void require_folder(const fs::path& file) {
  std::error_code ignored;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0)
    throw Error(Errc::io, fmt::format("{}: nothing can be written into the folder {}",
                                      file.string(), folder.string()));
}

void require_writable_picture(const fs::path& file, const std::vector<fs::path>& inputs) {
  require_writable(file, {.mark = "", .inputs = inputs});
  std::error_code ignored;
  if (fs::is_symlink(file, ignored)) fs::remove(file, ignored);
}

AtomicFile::AtomicFile(const fs::path& file, const Overwrite& overwrite)
    : file_(behind_links(file)) {
  require_writable(file, overwrite);
  std::error_code ignored;
  // A pipe or a device is written to, not replaced.
  in_place_ = fs::exists(file_, ignored) && !fs::is_regular_file(file_, ignored);
  part_ = in_place_ ? file_ : fs::path(file_.string() + ".part");
  for (int k = 1; !in_place_ && fs::exists(part_, ignored); ++k)
    part_ = fmt::format("{}.part-{}", file_.string(), k);
  out_.open(part_);
  if (!out_)
    throw Error(Errc::io,
                fmt::format("{}: cannot be written: {}", file_.string(), why_not_writable(file_)));
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!in_place_) fs::remove(part_, ignored);  // does nothing after a commit
}

void AtomicFile::commit() {
  out_.close();
  if (!out_) throw Error(Errc::io, fmt::format("{}: writing failed", file_.string()));
  if (in_place_) return;
  std::error_code error;
  fs::rename(part_, file_, error);
  if (error)
    throw Error(Errc::io,
                fmt::format("{}: cannot be replaced: {}", file_.string(), error.message()));
}

}  // namespace hilo
