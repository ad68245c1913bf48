#include "hilo/core/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/text_file.hpp"

namespace hilo {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::unique_ptr<std::istream> open(const std::filesystem::path& file) {
  require_readable(file);
  auto in = std::make_unique<std::ifstream>(file);
  if (!*in) throw Error(Errc::io, fmt::format("{}: cannot be read", file.string()));
  return in;
}

constexpr std::size_t kMaxUnpacked = std::size_t{1} << 30;
constexpr std::size_t kMaxLine = std::size_t{1} << 20;

// Opens a file that may be gzipped and unpacks it as a whole into memory.
std::unique_ptr<std::istream> open_unpacked(const std::filesystem::path& file) {
  open(file);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(file.c_str(), "rb"), gzclose);
  if (in == nullptr) throw Error(Errc::io, fmt::format("{}: cannot be read", file.string()));
  std::string text;
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const int got = gzread(in.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    int code = Z_OK;
    const std::string message = gzerror(in.get(), &code);
    if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END))
      throw Error(Errc::data, fmt::format("{}: cannot be unpacked: {}", file.string(), message));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxUnpacked)
      throw Error(Errc::data,
                  fmt::format("{}: unpacks to more than {} bytes", file.string(), kMaxUnpacked));
  }
  return std::make_unique<std::istringstream>(std::move(text));
}

}  // namespace

CsvReader::CsvReader(std::unique_ptr<std::istream> in, std::string name)
    : file_(std::move(name)), in_(std::move(in)), foreign_(true) {
  if (!next()) throw Error(Errc::data, fmt::format("{}:1: there is no header", file_));
  columns_.assign(fields_.begin(), fields_.end());
  if (columns_[0].starts_with("\xef\xbb\xbf")) columns_[0].erase(0, 3);  // a byte order mark
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (std::ranges::count(columns_, columns_[i]) > 1)
      fail(fmt::format("the column '{}' is there more than once", columns_[i]));
}

CsvReader CsvReader::with_any_header(const std::filesystem::path& file) {
  return {open_unpacked(file), file.string()};
}

std::optional<std::size_t> CsvReader::find(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

CsvReader::CsvReader(const std::filesystem::path& file, std::span<const std::string_view> columns)
    : CsvReader(open(file), file.string(), columns) {}

CsvReader::CsvReader(std::unique_ptr<std::istream> in, std::string name,
                     std::span<const std::string_view> columns)
    : file_(std::move(name)), in_(std::move(in)), columns_(columns.begin(), columns.end()) {
  const std::string header = fmt::format("{}", fmt::join(columns_, ","));
  if (!next() || line_ != header)
    throw Error(Errc::data, fmt::format("{}:1: header is '{}', but must be '{}'", file_,
                                        line_.substr(0, 80), header));
}

// The length of a line is limited because a device or a damaged file may never end its line.
bool CsvReader::read_line() {
  line_.clear();
  std::streambuf& buffer = *in_->rdbuf();
  const auto read = [&] {
    try {
      return buffer.sbumpc();
    } catch (const std::ios_base::failure&) {  // how a file stream reports a system error
      throw Error(Errc::io, fmt::format("{}:{}: reading failed", file_, line_number_ + 1));
    }
  };
  for (int c = read(); c != std::istream::traits_type::eof(); c = read()) {
    if (c == '\n') return true;
    line_ += static_cast<char>(c);
    if (line_.size() > kMaxLine)
      throw Error(Errc::data, fmt::format("{}:{}: the line has more than {} bytes", file_,
                                          line_number_ + 1, kMaxLine));
  }
  in_->setstate(std::ios::eofbit);
  return !line_.empty();
}

bool CsvReader::next() {
  if (!read_line()) return false;
  ++line_number_;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (foreign_ && line_.empty() && line_number_ > 1 &&
      in_->peek() == std::istream::traits_type::eof())
    return false;
  fields_ = split(line_);
  if (line_number_ > 1 && fields_.size() != columns_.size())
    fail(fmt::format("{} fields, but there must be {}: {}", fields_.size(), columns_.size(),
                     fmt::join(columns_, ",")));
  return true;
}

std::uint64_t CsvReader::whole(std::size_t column, std::uint64_t max) const {
  std::uint64_t value = 0;
  if (!parse(fields_[column], value) || value > max)
    fail_field(column, fmt::format("a whole number in [0, {}]", max));
  return value;
}

bool CsvReader::is_number(std::size_t column) const {
  double value = 0;
  return parse(fields_[column], value) && std::isfinite(value);
}

double CsvReader::number(std::size_t column) const {
  double value = 0;
  if (!parse(fields_[column], value) || !std::isfinite(value))
    fail_field(column, "a finite number");
  return value;
}

void CsvReader::fail(const std::string& message) const {
  throw Error(Errc::data, fmt::format("{}:{}: {}", file_, line_number_, message));
}

void CsvReader::fail_field(std::size_t column, std::string_view allowed) const {
  fail(fmt::format("{} is '{}', but must be {}", columns_[column], fields_[column].substr(0, 40),
                   allowed));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace hilo
