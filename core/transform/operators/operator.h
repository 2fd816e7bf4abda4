// What an operator is: a row of the table that users see, and a function that checks a call's arguments and adds to a plan.
// Below: the checks and arguments that several operators share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "core/transform/grammar/arguments.h"
#include "core/transform/plan/plan.h"

namespace dataline {

class HostOperator;

struct Operator {
  OperatorInfo info;
  // Checks the arguments against plan.field(), then adds to the plan. kBadTransform with a column.
  Status (*add)(const Arguments& arguments, Plan& plan);
  const HostOperator* host = nullptr;  // of an operator of the host's, instead of `add` (host_operator.h)
};

#define OPERATOR(name) extern const Operator name##_operator;
#include "core/transform/operators/list.def"
#undef OPERATOR

// Of the library's operators, then of the host's. An error names the nearest one.
Result<const Operator*> find_operator(const CallSyntax& call, const TransformSettings& settings);

// The field's type.
Status want_dense(const Arguments& arguments, const Plan& plan);
Status want_decoded(const Arguments& arguments, const Plan& plan);            // no encoded bytes
Status want_real(const Arguments& arguments, const Plan& plan);               // not complex
Result<ImageShape> want_image(const Arguments& arguments, const Plan& plan);  // of one size
// The plan's current frame, whose sides may vary, or an image: the input of crops, flips and layouts, which take any pixels.
Result<ImageShape> want_frame_or_image(const Arguments& arguments, const Plan& plan);
// A frame of u8 with 1, 3 or 4 channels, or what can become one: the input of Plan::add_view() and add_stage().
Result<FrameShape> want_frame(const Arguments& arguments, const Plan& plan);
// The same with 1 or 3 channels: torchvision does not define colour operators with alpha either.
Result<FrameShape> want_colors(const Arguments& arguments, const Plan& plan);
// That a sample of this shape has a byte count, for any dtype.
Status want_countable(const Arguments& arguments, const std::vector<int64_t>& shape);

// "size": one side for both, [height, width] or heightxwidth.
struct Size {
  int64_t height = 0;
  int64_t width = 0;
};
Result<Size> size_argument(const Arguments& arguments, size_t index);
// "bucket" instead of a length or a size.
bool says_bucket(const Arguments& arguments, size_t index);
// The step of a view whose size is the bucket's; nothing if the argument says another size. `plan` has pixels, or gets them.
Result<std::optional<ViewStep>> bucket_step(const Arguments& arguments, size_t index, ViewStep::Kind kind,
                                            const Plan& plan);
// "p": from 0 to 1.
Result<double> probability_argument(const Arguments& arguments, size_t index);
// A number from `low` to `high`.
Result<double> bounded_argument(const Arguments& arguments, size_t index, double low, double high);

// Two numbers above 0, the smaller first.
Result<Range> range_argument(const Arguments& arguments, size_t index);
// Two numbers from `low` to `high`, the smaller first.
Result<Range> bounds_argument(const Arguments& arguments, size_t index, double low, double high);

// "filter" of a resize: nearest, bilinear, bicubic, area or lanczos.
constexpr OperatorArgument kFilterArgument = {"filter", "nearest, bilinear, bicubic, area or lanczos",
                                              "bilinear"};
Result<Filter> filter_argument(const Arguments& arguments, size_t index);
// "filter" of a warp: nearest or bilinear.
constexpr OperatorArgument kNearestArgument = {"filter", "nearest or bilinear", "nearest"};
Result<Filter> warp_filter_argument(const Arguments& arguments, size_t index);
// "fill" of a frame: one byte per channel; the rest 0.
constexpr OperatorArgument kFillArgument = {"fill", "number or list", "0"};
constexpr OperatorArgument kNamedFillArgument = {"fill", "number or list, by name", "0", "", kByName};
Result<std::array<uint8_t, 4>> fill_argument(const Arguments& arguments, size_t index, int64_t channels);

constexpr OperatorArgument kProbabilityArgument = {"p", "number", "0.5"};

}  // namespace dataline
