#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

// For the sources of report/ only: what pictures as inline SVG have in common.
namespace hilo {

// 1, 2 or 5 times a power of ten, such that about five steps span the range.
double step_of(double range);
// Multiples of such a step between two values.
std::vector<double> ticks_of(double low, double high);

// From values to places on a picture.
struct Scale {
  double low, high, from, to;
  double operator()(double x) const { return from + (x - low) / (high - low) * (to - from); }
};
Scale scale_of(double low, double high, double from, double to);

// The least and the greatest of the finite values that it has seen.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double x) {
    if (!std::isfinite(x)) return;
    low = std::fmin(low, x);
    high = std::fmax(high, x);
  }
  bool is_empty() const { return !(low <= high); }
  // Empty ones become from -1 to 1, and every side gets this share of the width as room.
  Range with_room(double share) const;
};

struct Place {
  double x, y;
};

// A line through these places, broken where one of them is not finite. The attributes say how it
// looks.
std::string line_svg(const std::vector<Place>& places, const std::string& attributes);

// A picture as wide as it says, or as its place if that is narrower. Its title is a plain text.
std::string picture_svg(double width, double height, const std::string& title,
                        const std::string& contents);

}  // namespace hilo
