#include "hilo/env/nas/table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/core/parameters.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeys[] = {"arch_str", "arch", "naslib_ops", "ops", "arch_index"};

// The column that names the architecture, and its notation.
struct KeyColumn {
  std::size_t column;
  enum class Kind : std::uint8_t { text, naslib, digits } kind;

  Architecture read(const CsvReader& csv) const {
    const std::string_view text = csv.text(column);
    try {
      if (kind == Kind::text) return nasbench201::parse(text);
      return nasbench201::parse_digits(text, kind == Kind::naslib);
    } catch (const Error& e) {
      csv.fail(e.what());
    }
  }
};

KeyColumn key_column(const CsvReader& csv) {
  for (const char* name : {"arch_str", "arch"})
    if (const auto column = csv.find(name)) return {*column, KeyColumn::Kind::text};
  if (const auto column = csv.find("naslib_ops")) return {*column, KeyColumn::Kind::naslib};
  if (const auto column = csv.find("ops")) return {*column, KeyColumn::Kind::digits};
  csv.fail(
      fmt::format("no column names the architecture: one of arch_str, arch, naslib_ops and ops "
                  "must be there, but the columns are {}",
                  fmt::join(csv.columns(), ", ")));
}

std::size_t value_column(const CsvReader& csv, const std::string& name) {
  if (const auto column = csv.find(name)) return *column;
  csv.fail(fmt::format("there is no column '{}'{}; the columns are {}", name,
                       did_you_mean(name, csv.columns()), fmt::join(csv.columns(), ", ")));
}

// Reads row by row and checks that every architecture occurs exactly once.
class RowReader {
 public:
  explicit RowReader(const fs::path& file)
      : csv_(CsvReader::with_any_header(file)), key_(key_column(csv_)), seen_(NasSpace().size()) {}

  // The architecture of the next line; nothing at the end.
  std::optional<Architecture> next() {
    if (!csv_.next()) {
      require_complete();
      return std::nullopt;
    }
    const Architecture a = key_.read(csv_);
    if (seen_[a] != 0)
      csv_.fail(fmt::format("architecture {} was already given in line {}",
                            nasbench201::to_string(a), seen_[a]));
    seen_[a] = csv_.line_number();
    ++count_;
    return a;
  }

  const CsvReader& csv() const { return csv_; }

 private:
  void require_complete() const {
    if (count_ == seen_.size()) return;
    const auto missing = std::ranges::find(seen_, 0U) - seen_.begin();
    csv_.fail(fmt::format("the table ends after {} architectures, but there are {}; {} is missing",
                          count_, seen_.size(),
                          nasbench201::to_string(static_cast<Architecture>(missing))));
  }

  CsvReader csv_;
  KeyColumn key_;
  std::vector<std::size_t> seen_;  // the line of each architecture; 0: not read yet
  std::size_t count_ = 0;
};

}  // namespace

AccuracyScale accuracy_scale_from_name(std::string_view name) {
  if (name == "percent") return AccuracyScale::percent;
  if (name == "fraction") return AccuracyScale::fraction;
  throw Error(Errc::spec, fmt::format("scale is '{}', but must be percent or fraction", name));
}

std::vector<Accuracies> load_accuracies(const fs::path& file,
                                        const std::vector<std::string>& columns,
                                        AccuracyScale scale) {
  RowReader rows(file);
  std::vector<std::size_t> places;
  for (const std::string& name : columns) places.push_back(value_column(rows.csv(), name));
  std::vector<std::vector<double>> values(columns.size(), std::vector<double>(NasSpace().size()));
  std::vector<double> largest(columns.size(), 0);
  const double top = scale == AccuracyScale::fraction ? 1 : 100;
  while (const auto a = rows.next())
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double value = rows.csv().number(places[i]);
      if (value < 0 || value > top)
        rows.csv().fail(fmt::format("{} is {}, but must be in [0, {}]", columns[i], value, top));
      values[i][*a] = value * (100 / top);
      largest[i] = std::max(largest[i], value);
    }
  std::vector<Accuracies> out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (scale == AccuracyScale::percent && largest[i] <= 1)
      throw Error(Errc::data,
                  fmt::format("{}:2: no value of {} is above 1, so these look like fractions, but "
                              "accuracies must be in percent; scale = \"fraction\" converts them",
                              file.string(), columns[i]));
    out.push_back(std::make_shared<const std::vector<double>>(std::move(values[i])));
  }
  return out;
}

AccuracyColumns list_accuracies(const fs::path& file, AccuracyScale scale) {
  RowReader rows(file);
  const std::vector<std::string>& names = rows.csv().columns();
  const double top = scale == AccuracyScale::fraction ? 1 : 100;
  std::vector<std::uint8_t> fits(names.size(), 1);
  std::vector<double> largest(names.size(), 0);
  while (rows.next())
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (fits[i] == 0 || !rows.csv().is_number(i)) {
        fits[i] = 0;
        continue;
      }
      const double value = rows.csv().number(i);
      if (value < 0 || value > top) fits[i] = 0;
      largest[i] = std::max(largest[i], value);
    }
  AccuracyColumns out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(kKeys, names[i]) != std::end(kKeys)) continue;
    const bool fraction = scale == AccuracyScale::percent && largest[i] <= 1;
    (fits[i] != 0 && !fraction ? out.usable : out.others).push_back(names[i]);
  }
  return out;
}

void save_accuracies(const fs::path& file, const std::vector<std::string>& names,
                     const std::vector<Accuracies>& columns, Overwrite overwrite) {
  overwrite.mark = fmt::format("arch_str,{}\n", fmt::join(names, ","));
  AtomicFile out(file, overwrite);
  out.out() << overwrite.mark;
  for (Architecture a = 0; a < NasSpace().size(); ++a) {
    fmt::print(out.out(), "{}", nasbench201::to_string(a));
    for (const Accuracies& column : columns) fmt::print(out.out(), ",{}", (*column)[a]);
    fmt::print(out.out(), "\n");
  }
  out.commit();
}

}  // namespace hilo
