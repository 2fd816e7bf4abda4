// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/color_checks.h"

#include <cstring>

#include "core/base/text.h"

namespace dataline {
namespace {

// "0.5" for messages; whole numbers without a point.
std::string number_text(double value) {
  const int64_t tenths = static_cast<int64_t>(value * 10 + (value < 0 ? -0.5 : 0.5));
  const int64_t size = tenths < 0 ? -tenths : tenths;
  return concat(tenths < 0 ? "-" : "", size / 10, size % 10 != 0 ? concat(".", size % 10) : "");
}

}  // namespace

Result<FrameShape> want_colors(const Arguments& arguments, const Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  if (shape.channels == 1 || shape.channels == 3) return shape;
  return arguments.fault("expected 1 or 3 channels, got ", shape.channels, "; decode(mode=rgb) gives 3");
}

Result<double> bounded_argument(const Arguments& arguments, size_t index, double low, double high) {
  DL_ASSIGN_OR_RETURN(const double value, arguments.number(index));
  if (value >= low && value <= high) return value;
  return arguments.fault_at(index, "expected a number from ", number_text(low), " to ", number_text(high),
                            ", got ", arguments.text_of(index));
}

Result<Range> bounds_argument(const Arguments& arguments, size_t index, double low, double high) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(index));
  if (ends.size() == 2 && ends[0] >= low && ends[0] <= ends[1] && ends[1] <= high)
    return Range{ends[0], ends[1]};
  return arguments.fault_at(index, "expected two numbers from ", number_text(low), " to ", number_text(high),
                            ", the smaller first, got ", arguments.text_of(index));
}

Result<std::array<uint8_t, 4>> fill_argument(const Arguments& arguments, size_t index, int64_t channels) {
  DL_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, arguments.elements(index, DType::kU8, channels));
  std::array<uint8_t, 4> fill{};
  std::memcpy(fill.data(), bytes.data(), bytes.size());
  return fill;
}

Result<AugmentStyle> style_arguments(const Arguments& arguments, size_t filter, size_t fill,
                                     int64_t channels) {
  AugmentStyle style;
  if (arguments.given(filter)) {
    DL_ASSIGN_OR_RETURN(const size_t choice,
                        arguments.choice(filter, std::array<std::string_view, 2>{"nearest", "bilinear"}));
    style.filter = choice == 0 ? Filter::kNearest : Filter::kBilinear;
  }
  if (arguments.given(fill)) {
    DL_ASSIGN_OR_RETURN(style.fill, fill_argument(arguments, fill, channels));
  }
  return style;
}

}  // namespace dataline
