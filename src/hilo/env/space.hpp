#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hilo {

// A view of one value of a space: an index if the space is discrete, otherwise coordinates.
class Point {
 public:
  Point(std::uint64_t index) : index_(index) {}                              // NOLINT: a value
  Point(std::span<const double> coordinates) : coordinates_(coordinates) {}  // NOLINT: a view

  std::uint64_t index() const { return index_; }
  std::span<const double> coordinates() const { return coordinates_; }

 private:
  std::uint64_t index_ = 0;
  std::span<const double> coordinates_;
};

// The set of possible observations or actions: n numbered elements, or the vectors in a box of R^d.
// n may be far larger than any table, because nothing is stored per element.
class Space {
 public:
  static Space discrete(std::uint64_t size);  // 0, 1, ..., size - 1
  // Bounds may be infinite.
  static Space box(std::vector<double> low, std::vector<double> high);

  bool is_discrete() const { return size_ > 0; }
  std::uint64_t size() const { return size_; }           // 0: a box
  std::size_t dimension() const { return low_.size(); }  // 0: discrete
  std::span<const double> low() const { return low_; }
  std::span<const double> high() const { return high_; }

  bool contains(const Point& point) const;
  std::string describe() const;  // "a whole number from 0 to 4", "in the box [0, 1]"

  friend bool operator==(const Space&, const Space&) = default;

 private:
  std::uint64_t size_ = 0;
  std::vector<double> low_, high_;
};

// Many points of one space, contiguous in memory. Buffers are kept when it is cleared.
class Points {
 public:
  explicit Points(const Space& space) : dimension_(space.dimension()) {}

  std::size_t size() const {
    return dimension_ > 0 ? coordinates_.size() / dimension_ : indices_.size();
  }
  void clear() {
    indices_.clear();
    coordinates_.clear();
  }
  // These throw Errc::simulator unless the point has the dimension of the space.
  void push_back(std::uint64_t index) {
    if (dimension_ > 0) throw_bad_dimension(0);
    indices_.push_back(index);
  }
  void push_back(std::span<const double> coordinates) {
    if (coordinates.size() != dimension_ || dimension_ == 0)
      throw_bad_dimension(coordinates.size());
    coordinates_.insert(coordinates_.end(), coordinates.begin(), coordinates.end());
  }
  void push_back(const Point& point) {
    if (dimension_ > 0 || !point.coordinates().empty())
      push_back(point.coordinates());
    else
      push_back(point.index());
  }
  Point operator[](std::size_t i) const {
    if (dimension_ > 0) return Point(std::span(coordinates_).subspan(i * dimension_, dimension_));
    return Point(indices_[i]);
  }

  // All points at once, for work in bulk: one of the two spans is empty.
  std::span<const std::uint64_t> indices() const { return indices_; }
  std::span<const double> coordinates() const { return coordinates_; }

 private:
  [[noreturn]] void throw_bad_dimension(std::size_t given) const;

  std::size_t dimension_;  // 0: discrete
  std::vector<std::uint64_t> indices_;
  std::vector<double> coordinates_;
};

// Throws Errc::simulator unless the point is in the space; the message begins with `what`.
void require_in_space(const Space& space, const Point& point, const char* what);

}  // namespace hilo
