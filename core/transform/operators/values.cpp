// cast, scale and normalize: the dtype and the range of values.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kCastArguments[] = {{"dtype", "dtype", ""}};
constexpr OperatorArgument kScaleArguments[] = {{"factor", "number", ""}};
constexpr OperatorArgument kNormalizeArguments[] = {{"preset", "word", "none"},
                                                    {"mean", "number or list, by name", "none", "", kByName},
                                                    {"std", "number or list, by name", "none", "", kByName}};

Status add_cast(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const DType to, arguments.dtype(0));
  if (to != DType::kC64 && to != DType::kC128) DL_RETURN_IF_ERROR(want_real(arguments, plan));
  plan.add_cast(to);
  return Status::ok();
}

Status add_scale(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_real(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double factor, arguments.number(0));
  const float rounded = static_cast<float>(factor);
  if (!std::isfinite(rounded) || rounded == 0)
    return arguments.expected(0, "a number other than 0 that fits in f32");
  // Adding -0 changes nothing, not even the sign of a zero.
  plan.add_affine({rounded}, {-0.0f});
  return Status::ok();
}

enum NormalizeArgument : size_t { kPreset, kMean, kStd };

struct Statistics {
  std::vector<double> mean;
  std::vector<double> deviation;
};

Result<Statistics> preset_statistics(const Arguments& arguments, const Plan& plan) {
  if (arguments.given(kMean) || arguments.given(kStd))
    return arguments.fault("pass either a preset, or mean= and std=");
  DL_ASSIGN_OR_RETURN(const std::string_view name, arguments.word(kPreset));
  const std::pair<std::string_view, Statistics> presets[] = {
      {"imagenet", {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}},
      {"cifar10", {{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}}},
      {"mnist", {{0.1307}, {0.3081}}},
  };
  std::vector<std::string_view> names;
  for (const auto& [preset, values] : presets) {
    names.push_back(preset);
    if (preset != name) continue;
    if (plan.cast_from_pixels())
      return arguments.fault("expected u8 or u16, or floats from 0 to 1, for preset ", name,
                             ", got pixels cast to ", dtype_name(plan.field().dtype),
                             "; remove the cast, normalize converts");
    return values;
  }
  return arguments.fault_at(kPreset, "expected imagenet, cifar10, mnist, or mean= and std=, got ",
                            arguments.text_of(kPreset), did_you_mean(name, names));
}

Result<Statistics> statistics(const Arguments& arguments, const Plan& plan) {
  if (arguments.given(kPreset)) return preset_statistics(arguments, plan);
  if (!arguments.given(kMean) || !arguments.given(kStd))
    return arguments.fault("expected a preset (imagenet, cifar10, mnist) or both mean= and std=");
  Statistics out;
  DL_ASSIGN_OR_RETURN(out.mean, arguments.numbers(kMean));
  DL_ASSIGN_OR_RETURN(out.deviation, arguments.numbers(kStd));
  return out;
}

// The divisor of stored values; an error for types that normalize does not take.
Result<double> maximum(const Arguments& arguments, const Plan& plan) {
  const DType dtype = plan.field().dtype;
  if (dtype == DType::kU8) return 255.0;
  if (dtype == DType::kU16) return 65535.0;
  if (dtype_is_float(dtype)) return 1.0;
  DL_RETURN_IF_ERROR(want_real(arguments, plan));
  return arguments.fault("expected u8, u16 or floats, got ", dtype_name(dtype),
                         dtype == DType::kBool ? "" : "; scale converts it to floats");
}

Status want_channels(const Arguments& arguments, const Plan& plan, size_t values, size_t index) {
  const Field& field = plan.field();
  const std::optional<Channels> channels = plan.channels();
  const auto fault = [&](const auto&... parts) {
    return arguments.given(index) ? arguments.fault_at(index, parts...) : arguments.fault(parts...);
  };
  if (!channels && !field.axes.empty())
    return fault("expected one value for axes ", field.axes, ", got ", static_cast<int64_t>(values));
  if (!channels)
    return fault("expected axes that mark the channels of ", field_type_text(field), ", got none for ",
                 static_cast<int64_t>(values), " values; set axes=HWC in the URI");
  if (channels->count == static_cast<int64_t>(values)) return Status::ok();
  return fault("expected one value, or one for each of ", channels->count, " channels, got ",
               static_cast<int64_t>(values));
}

// y = (x / max - mean) / std as y = x * a + b. a = 1 / (max * std) and b = -mean / std are computed in f64 and rounded to
// f32; y is rounded after the product and after the sum. So every machine gives the same bytes.
Status add_normalize(const Arguments& arguments, Plan& plan) {
  if (arguments.given(kPreset)) DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double max, maximum(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Statistics given, statistics(arguments, plan));
  for (const auto& [values, index] : {std::pair(given.mean.size(), kMean), {given.deviation.size(), kStd}}) {
    if (values > 1)
      DL_RETURN_IF_ERROR(want_channels(arguments, plan, values, arguments.given(kPreset) ? kPreset : index));
  }
  std::vector<float> a, b;
  for (size_t c = 0; c < std::max(given.mean.size(), given.deviation.size()); ++c) {
    const double mean = given.mean[c % given.mean.size()];
    const double deviation = given.deviation[c % given.deviation.size()];
    if (!(deviation > 0)) return arguments.expected(kStd, "numbers above 0");
    a.push_back(static_cast<float>(1.0 / (max * deviation)));
    b.push_back(static_cast<float>(-mean / deviation));
    if (!std::isfinite(a.back()) || a.back() == 0 || !std::isfinite(b.back()))
      return arguments.expected(kStd, "mean and std whose quotients fit in f32");
  }
  plan.add_affine(std::move(a), std::move(b));
  return Status::ok();
}

}  // namespace

const Operator cast_operator = {{"cast", kCastArguments,
                                 "Converts to another dtype. Integers saturate. Floats round toward zero to "
                                 "integers (NaN becomes 0), and to nearest even to floats.",
                                 "numpy.ndarray.astype, saturating", "0.1"},
                                add_cast};
const Operator scale_operator = {{"scale", kScaleArguments, "Multiplies by a number; the result is f32.",
                                  "torchvision.transforms.v2.ToDtype(scale=True)", "0.1"},
                                 add_scale};
const Operator normalize_operator = {
    {"normalize", kNormalizeArguments,
     "(x - mean) / std as f32; u8 and u16 are divided by their maximum first. A preset (imagenet, cifar10, "
     "mnist), or mean= and std= with one value or one per channel.",
     "torchvision.transforms.v2.Normalize after ToTensor", "0.1"},
    add_normalize};

}  // namespace dataline
