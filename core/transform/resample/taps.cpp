// Longer than 300 lines: position and weight of the taps are one definition for each of the eight rules.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/resample/taps.h"

#include <algorithm>
#include <cmath>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

double sinc(double x) { return x == 0 ? 1.0 : sin_pi(x) / (x * 3.14159265358979323846); }

double lanczos(double x) { return x < 3 ? sinc(x) * sinc(x / 3) : 0.0; }

// Keys' cubic.
double cubic(double x, double a) {
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

// Weights before division by their sum; f64 values become integers of 30 fractional bits, so that sums are exact.
constexpr double kOne30 = 1073741824.0;

enum class Rule { kCopy, kNearest, kBilinear, kBicubic, kTriangle, kCubic, kLanczos, kBox };

Rule rule_of(const Axis& axis) {
  if (axis.in == axis.out) return Rule::kCopy;  // every filter is then the identity
  switch (axis.filter) {
    case Filter::kNearest:
      return Rule::kNearest;
    case Filter::kBilinear:
      return axis.antialias ? Rule::kTriangle : Rule::kBilinear;
    case Filter::kBicubic:
      return axis.antialias ? Rule::kCubic : Rule::kBicubic;
    case Filter::kLanczos:
      return Rule::kLanczos;
    case Filter::kArea:
      return Rule::kBox;
  }
  return Rule::kCopy;
}

// Half width of a filter in pixels of the larger grid.
int64_t support_of(Rule rule) { return rule == Rule::kTriangle ? 1 : rule == Rule::kCubic ? 2 : 3; }

// The centres of output x and of source i, in units of 1 / (2 out) source pixels from the left edge. Exact.
int64_t centre(const Axis& axis, int64_t x) { return (2 * x + 1) * axis.in; }
int64_t place(const Axis& axis, int64_t i) { return (2 * i + 1) * axis.out; }

// Pixels nearer than this to an output's centre have a nonzero weight, in the same units.
int64_t reach_of(const Axis& axis, Rule rule) { return support_of(rule) * 2 * std::max(axis.in, axis.out); }

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Pillow's BOX in Pillow's own f64 steps: their rounding decides which pixels at the edge of the box belong to it.
struct PillowBox {
  explicit PillowBox(const Axis& axis, int64_t x) : in(axis.in) {
    const double scale = static_cast<double>(axis.in) / static_cast<double>(axis.out);
    const double filter_scale = std::max(scale, 1.0);
    const double support = 0.5 * filter_scale;
    step = 1.0 / filter_scale;
    middle = (static_cast<double>(x) + 0.5) * scale;
    // NOLINTBEGIN(bugprone-incorrect-roundings): as Pillow rounds
    first = std::max<int64_t>(0, static_cast<int64_t>(middle - support + 0.5));
    end = std::min(in, static_cast<int64_t>(middle + support + 0.5));
    // NOLINTEND(bugprone-incorrect-roundings)
  }
  bool holds(int64_t i) const {
    const double at = (static_cast<double>(i) - middle + 0.5) * step;
    return at > -0.5 && at <= 0.5;
  }
  TapRange range() const {
    int64_t low = first, high = end;
    while (low + 1 < high && !holds(low)) ++low;
    while (low + 1 < high && !holds(high - 1)) --high;
    return {low, high - low};
  }

  int64_t in, first, end;
  double middle, step;
};

TapRange filtered_range(const Axis& axis, Rule rule, int64_t x) {
  const int64_t reach = reach_of(axis, rule);
  const int64_t low = centre(axis, x) - reach, high = centre(axis, x) + reach;
  // place(i) > low and place(i) < high.
  const int64_t first = std::max<int64_t>(0, floor_divide(low - axis.out, 2 * axis.out) + 1);
  const int64_t last = std::min(axis.in - 1, floor_divide(high - axis.out - 1, 2 * axis.out));
  return {first, last - first + 1};
}

// The four (two) neighbours of PyTorch's kernels; neighbours outside are clamped to the border pixel.
struct Neighbours {
  Neighbours(const Axis& axis, Rule rule, int64_t x) {
    int64_t at = centre(axis, x) - axis.out;  // (x + 0.5) * scale - 0.5
    if (rule == Rule::kBilinear) at = std::max<int64_t>(0, at);
    base = floor_divide(at, 2 * axis.out);
    part = at - base * 2 * axis.out;
    whole = 2 * axis.out;
    low = rule == Rule::kBilinear ? 0 : -1;
    high = rule == Rule::kBilinear ? 1 : 2;
  }
  TapRange range(const Axis& axis) const {
    const int64_t first = std::clamp<int64_t>(base + low, 0, axis.in - 1);
    return {first, std::clamp<int64_t>(base + high, 0, axis.in - 1) - first + 1};
  }

  int64_t base, part, whole, low, high;
};

// The taps of successive output pixels: those of wide filters advance by comparisons instead of divisions. Nearest is Pillow's
// ImagingScaleAffine, which accumulates positions in f64: at a pixel's edge the accumulated rounding decides.
class RangeWalk {
 public:
  RangeWalk(const Axis& axis, Rule rule, int64_t begin)
      : axis_(axis),
        rule_(rule),
        reach_(reach_of(axis, rule)),
        step_(static_cast<double>(axis.in) / static_cast<double>(axis.out)),
        nearest_(step_ * 0.5) {
    if (rule == Rule::kTriangle || rule == Rule::kCubic || rule == Rule::kLanczos)
      range_ = filtered_range(axis, rule, begin);
    if (rule == Rule::kNearest)
      for (int64_t i = 0; i < begin; ++i) nearest_ += step_;
  }

  TapRange next(int64_t x) {
    switch (rule_) {
      case Rule::kCopy:
        return {x, 1};
      case Rule::kNearest: {
        const auto index = static_cast<int64_t>(nearest_);
        nearest_ += step_;
        return {std::min(index, axis_.in - 1), 1};
      }
      case Rule::kBox:
        return PillowBox(axis_, x).range();
      case Rule::kBilinear:
      case Rule::kBicubic:
        return Neighbours(axis_, rule_, x).range(axis_);
      default:
        break;
    }
    const int64_t low = centre(axis_, x) - reach_, high = centre(axis_, x) + reach_;
    int64_t end = range_.first + range_.count;
    while (place(axis_, range_.first) <= low) ++range_.first;
    while (end < axis_.in && place(axis_, end) < high) ++end;
    range_.count = end - range_.first;
    return range_;
  }

 private:
  const Axis& axis_;
  Rule rule_;
  int64_t reach_;
  double step_, nearest_;
  TapRange range_;
};

// The number of fractional bits of weights: no weight is above twice the filter's height over its width.
int32_t shift_of(const Axis& axis, Rule rule, int32_t max) {
  int32_t shift = 14;
  if (rule == Rule::kTriangle || rule == Rule::kCubic || rule == Rule::kLanczos || rule == Rule::kBox)
    for (int64_t room = axis.in / (2 * axis.out); room > 0 && shift < max; room /= 2) ++shift;
  return std::min(shift, max);
}

// Fills the weights of one output pixel: proportional integers, rounded so that every partial sum is within half a unit and
// the total is exactly 1.
class Weights {
 public:
  // `kept`: room for one value a tap.
  Weights(const Axis& axis, Rule rule, int32_t shift, int64_t* kept)
      : axis_(axis), rule_(rule), shift_(shift), kept_(kept), unit_(std::ldexp(1.0, shift + kExtra)) {
    const double larger = static_cast<double>(std::max(axis.in, axis.out));
    to_filter_ = 1.0 / (2.0 * larger);
    triangle_ = 2 * std::max(axis.in, axis.out);
  }

  void fill(int64_t x, TapRange range, int16_t* out) const {
    if (range.count == 1) {
      out[0] = static_cast<int16_t>(1 << shift_);
      return;
    }
    if (rule_ == Rule::kBilinear || rule_ == Rule::kBicubic) return fill_neighbours(x, range, out);
    const int64_t middle = centre(axis_, x);
    int64_t sum = 0, total = 0;
    for (int64_t i = 0; i < range.count; ++i) sum += kept_[i] = raw(middle, range.first + i);
    const double scale = unit_ / static_cast<double>(sum);
    for (int64_t i = 0; i < range.count; ++i)
      total += kept_[i] = to_nearest(static_cast<double>(kept_[i]) * scale);
    Rounder round(shift_, total);
    for (int64_t i = 0; i < range.count; ++i) out[i] = round.next(kept_[i]);
  }

 private:
  static constexpr int32_t kExtra = 20;  // extra bits before rounding

  // Differences of the running sum, rounded: symmetric under reversal.
  class Rounder {
   public:
    Rounder(int32_t shift, int64_t total) : running_((int64_t{1} << (shift + kExtra)) - total) {}
    int16_t next(int64_t weight) {
      running_ += 2 * weight;
      const int64_t rounded =
          (running_ + (int64_t{1} << kExtra) - 1 + ((running_ >> (kExtra + 1)) & 1)) >> (kExtra + 1);
      const int64_t out = rounded - given_;
      given_ = rounded;
      return static_cast<int16_t>(out);
    }

   private:
    int64_t running_;
    int64_t given_ = 0;
  };

  int64_t raw(int64_t middle, int64_t i) const {
    const int64_t distance = std::abs(place(axis_, i) - middle);
    switch (rule_) {
      case Rule::kTriangle:
        return triangle_ - distance;
      case Rule::kCubic:
        return to_nearest(cubic(static_cast<double>(distance) * to_filter_, -0.5) * kOne30);
      case Rule::kLanczos:
        return to_nearest(lanczos(static_cast<double>(distance) * to_filter_) * kOne30);
      default:
        return 1;
    }
  }

  void fill_neighbours(int64_t x, TapRange range, int16_t* out) const {
    const Neighbours near(axis_, rule_, x);
    const double part = static_cast<double>(near.part) / static_cast<double>(near.whole);
    std::fill(out, out + range.count, int16_t{0});
    int64_t total = 0;
    int64_t each[4] = {};
    for (int64_t k = near.low; k <= near.high; ++k) {
      const double distance = std::abs(part - static_cast<double>(k));
      const double weight = rule_ == Rule::kBilinear ? 1.0 - distance : cubic(distance, -0.75);
      each[k - near.low] = to_nearest(weight * unit_);
      total += each[k - near.low];
    }
    Rounder round(shift_, total);
    for (int64_t k = near.low; k <= near.high; ++k) {
      const int64_t i = std::clamp<int64_t>(near.base + k, 0, axis_.in - 1);
      out[i - range.first] = static_cast<int16_t>(out[i - range.first] + round.next(each[k - near.low]));
    }
  }

  Axis axis_;
  Rule rule_;
  int32_t shift_;
  int64_t* kept_;
  double unit_;
  double to_filter_ = 0;
  int64_t triangle_ = 0;
};

}  // namespace

TapRange tap_range(const Axis& axis, int64_t x) { return RangeWalk(axis, rule_of(axis), x).next(x); }

int64_t max_taps(const Axis& axis) {
  const Rule rule = rule_of(axis);
  switch (rule) {
    case Rule::kCopy:
    case Rule::kNearest:
      return 1;
    case Rule::kBilinear:
      return std::min<int64_t>(2, axis.in);
    case Rule::kBicubic:
      return std::min<int64_t>(4, axis.in);
    case Rule::kBox:  // an interval of that width, closed on one side; f64 steps may add one
      return std::min(axis.in, std::max<int64_t>(1, axis.in / axis.out) + 2);
    default: {  // an open interval
      const int64_t twice = support_of(rule) * 2;
      const int64_t width = axis.in > axis.out ? (twice * axis.in + axis.out - 1) / axis.out : twice;
      return std::min(axis.in, width);
    }
  }
}

int64_t taps_bytes(const TapsWanted& wanted) {
  const int64_t stride = max_taps(wanted.axis);
  return stride * static_cast<int64_t>(sizeof(int64_t)) +
         wanted.count * (static_cast<int64_t>(2 * sizeof(int32_t)) +
                         stride * static_cast<int64_t>(sizeof(int32_t) + sizeof(int16_t)));
}

Taps build_taps(const TapsWanted& wanted, std::byte* memory) {
  const Axis& axis = wanted.axis;
  const Rule rule = rule_of(axis);
  const int64_t stride = max_taps(axis), weight_count = wanted.count * stride;
  auto* kept = reinterpret_cast<int64_t*>(memory);
  auto* first = reinterpret_cast<int32_t*>(kept + stride);
  int32_t* counts = first + wanted.count;
  int32_t* pairs = counts + wanted.count;
  auto* weights = reinterpret_cast<int16_t*>(pairs + weight_count);
  const int32_t shift = wanted.fixed_shift ? wanted.max_shift : shift_of(axis, rule, wanted.max_shift);
  const Weights rounded(axis, rule, shift, kept);
  RangeWalk walk(axis, rule, wanted.begin);
  std::fill(weights, weights + weight_count, int16_t{0});
  for (int64_t k = 0; k < wanted.count; ++k) {
    const int64_t x = wanted.begin + k;
    const TapRange range = walk.next(x);
    const int64_t at = wanted.reversed ? wanted.count - 1 - k : k;
    first[at] = static_cast<int32_t>(range.first - wanted.origin);
    counts[at] = static_cast<int32_t>(range.count);
    rounded.fill(x, range, weights + at * stride);
  }
  for (int64_t i = 0; i < weight_count; ++i) {
    const auto stored = static_cast<uint16_t>(weights[i]);
    const uint32_t weight = wanted.fixed_shift && shift == 15 && stored == 0x8000 ? 0x7fff : stored;
    pairs[i] = static_cast<int32_t>(weight | weight << 16);
  }
  return {first, counts, weights, pairs, stride, shift};
}

}  // namespace dataline
