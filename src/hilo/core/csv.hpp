#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// Reads a CSV file line by line. The first line must hold exactly the given column names. Every
// error names the file, the line, the column and the value.
class CsvReader {
 public:
  CsvReader(const std::filesystem::path& file, std::span<const std::string_view> columns);
  // Reads from any stream; `name` stands for the file in messages.
  CsvReader(std::unique_ptr<std::istream> in, std::string name,
            std::span<const std::string_view> columns);

  // Accepts any header; the file may be gzipped.
  static CsvReader with_any_header(const std::filesystem::path& file);

  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> find(std::string_view column) const;

  // Moves on to the next line; false at the end. Throws if the line has more or fewer fields than
  // there are columns.
  bool next();

  // A field of the current line as a whole number in [0, max], or as a finite number.
  std::uint64_t whole(std::size_t column, std::uint64_t max) const;
  double number(std::size_t column) const;
  bool is_number(std::size_t column) const;  // finite
  std::string_view text(std::size_t column) const { return fields_[column]; }

  std::size_t line_number() const { return line_number_; }

  // Throws "FILE:LINE: message".
  [[noreturn]] void fail(const std::string& message) const;

 private:
  CsvReader(std::unique_ptr<std::istream> in, std::string name);
  bool read_line();
  [[noreturn]] void fail_field(std::size_t column, std::string_view allowed) const;

  std::string file_;
  std::unique_ptr<std::istream> in_;
  std::vector<std::string> columns_;
  std::string line_;
  std::vector<std::string_view> fields_;  // into line_
  std::size_t line_number_ = 0;
  bool foreign_ = false;  // not written by hilo: a blank last line is ignored
};

// A field as it is written into a CSV line: quoted if it holds a comma, a quote or a line end.
std::string csv_field(const std::string& text);

}  // namespace hilo
