#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace hilo {

// Memory that vector instructions load without crossing cache lines.
template <class T>
class CacheLineAllocator {
 public:
  using value_type = T;

  CacheLineAllocator() = default;
  template <class U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* memory, std::size_t /*n*/) {
    ::operator delete (memory, std::align_val_t{64});
  }

  friend bool operator==(const CacheLineAllocator& /*a*/, const CacheLineAllocator& /*b*/) {
    return true;
  }
};

// Many vectors at once, one row for each coordinate: row d holds coordinate d of all of them. Rows
// begin on cache lines and are padded, so that vectorised loops have no remainder. What stands in
// the padding is a number, and of no meaning.
class Columns {
 public:
  static constexpr std::size_t kPadding = 8;  // doubles, as many as the widest vectors have

  Columns() = default;
  Columns(std::size_t rows, std::size_t count) { resize(rows, count); }

  // Values are zero afterwards.
  void resize(std::size_t rows, std::size_t count) {
    rows_ = rows;
    count_ = count;
    padded_ = (count + kPadding - 1) / kPadding * kPadding;
    values_.assign(rows * padded_, 0.0);
  }

  std::size_t rows() const { return rows_; }
  std::size_t count() const { return count_; }
  std::size_t padded() const { return padded_; }

  double* row(std::size_t d) { return values_.data() + d * padded_; }
  const double* row(std::size_t d) const { return values_.data() + d * padded_; }
  double& at(std::size_t d, std::size_t i) { return values_[d * padded_ + i]; }
  double at(std::size_t d, std::size_t i) const { return values_[d * padded_ + i]; }

  // Column i, one coordinate after the other.
  void set(std::size_t i, std::span<const double> point) {
    for (std::size_t d = 0; d < rows_; ++d) at(d, i) = point[d];
  }
  void get(std::size_t i, std::span<double> point) const {
    for (std::size_t d = 0; d < rows_; ++d) point[d] = at(d, i);
  }
  // All columns, the padding too.
  void fill(std::span<const double> point) {
    for (std::size_t d = 0; d < rows_; ++d)
      for (std::size_t i = 0; i < padded_; ++i) at(d, i) = point[d];
  }

 private:
  std::size_t rows_ = 0, count_ = 0, padded_ = 0;
  std::vector<double, CacheLineAllocator<double>> values_;
};

}  // namespace hilo
