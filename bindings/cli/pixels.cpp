// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "bindings/cli/failure.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr double kBackground = 128;  // under alpha

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[noreturn]] void no_picture(const dl_view& view) {
  throw Failure{.exit_status = kExitUsage,
                .message = "field '" + std::string(view.name) + "' is " + dl_dtype_name(view.dtype) + " " +
                           shape_text(view.shape + 1, view.rank - 1) +
                           ", no picture: one is HxW, HxWxC or CxHxW with 1, 3 or 4 channels"};
}

uint8_t to_byte(double value) {
  if (!(value > 0)) return 0;  // NaN too
  return value >= 255 ? 255 : static_cast<uint8_t>(std::lround(value));
}

// The values of one picture, row by row, channels last.
std::vector<double> values_of(const dl_view& view, int64_t row, const PictureShape& shape) {
  std::vector<double> out;
  out.reserve(static_cast<size_t>(shape.height * shape.width * shape.channels));
  const int64_t first = row * view.strides[0];
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      for (int64_t c = 0; c < shape.channels; ++c) {
        out.push_back(value_at(
            view, first + y * shape.row_stride + x * shape.column_stride + c * shape.channel_stride));
      }
    }
  }
  return out;
}

void stretch(std::vector<double>& values) {
  double min = HUGE_VAL, max = -HUGE_VAL;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    min = std::min(min, v);
    max = std::max(max, v);
  }
  const double range = max > min ? max - min : 1;
  for (double& v : values) v = (v - min) * 255 / range;
}

}  // namespace

double value_at(const dl_view& view, int64_t element) {
  const auto* base = static_cast<const std::byte*>(view.data) + view.byte_offset;
  switch (view.dtype) {
    case DL_DTYPE_BOOL:
    case DL_DTYPE_U8:
      return load<uint8_t>(base + element);
    case DL_DTYPE_I8:
      return load<int8_t>(base + element);
    case DL_DTYPE_U16:
      return load<uint16_t>(base + element * 2);
    case DL_DTYPE_I16:
      return load<int16_t>(base + element * 2);
    case DL_DTYPE_U32:
      return load<uint32_t>(base + element * 4);
    case DL_DTYPE_I32:
      return load<int32_t>(base + element * 4);
    case DL_DTYPE_U64:
      return static_cast<double>(load<uint64_t>(base + element * 8));
    case DL_DTYPE_I64:
      return static_cast<double>(load<int64_t>(base + element * 8));
    case DL_DTYPE_F16:
      return half_to_double(load<uint16_t>(base + element * 2));
    case DL_DTYPE_BF16:
      return std::bit_cast<float>(uint32_t{load<uint16_t>(base + element * 2)} << 16);
    case DL_DTYPE_F32:
      return load<float>(base + element * 4);
    case DL_DTYPE_F64:
      return load<double>(base + element * 8);
    default:
      no_picture(view);
  }
}

PictureShape picture_shape(const dl_view& view) {
  const int rank = view.rank - 1;  // of one sample
  const int64_t* dims = view.shape + 1;
  std::string axes = view.axes[0] != '\0' ? view.axes + 1 : "";
  const auto few = [](int64_t n) { return n == 1 || n == 3 || n == 4; };
  if (axes.empty() && rank == 2) axes = "HW";
  if (axes.empty() && rank == 3) axes = few(dims[2]) || dims[2] < 0 ? "HWC" : "CHW";
  if (view.kind != DL_KIND_DENSE || (axes != "HW" && axes != "HWC" && axes != "CHW")) no_picture(view);
  PictureShape shape;
  for (int i = 0; i < rank; ++i) {
    const char axis = axes[static_cast<size_t>(i)];
    (axis == 'H' ? shape.height : axis == 'W' ? shape.width : shape.channels) = dims[i];
    (axis == 'H'   ? shape.row_stride
     : axis == 'W' ? shape.column_stride
                   : shape.channel_stride) = view.strides[i + 1];
  }
  if (!few(shape.channels) || shape.height == 0 || shape.width == 0) no_picture(view);
  return shape;
}

PixelScale pixel_scale(const dl_loader* loader, int32_t field, const dl_dataset* dataset) {
  const Views loaded(loader);
  const dl_view& view = loaded[field];
  const Views stored(dataset);
  const bool wide = std::any_of(stored.begin(), stored.end(), [&](const dl_view& one) {
    return std::string_view(one.name) == view.name && one.dtype == DL_DTYPE_U16;
  });
  const double unit = wide ? 257 : 1;  // 65535 / 255
  PixelScale out;
  for (int64_t c = 0; c < std::max<int64_t>(picture_shape(view).channels, 1); ++c) {
    double scale = 1, offset = 0;
    dl_error error = DL_ERROR_INIT;
    if (dl_loader_pixel_scale(loader, field, c, &scale, &offset, &error) != DL_OK)
      return view.dtype == DL_DTYPE_U8 ? PixelScale{{1}, {0}} : PixelScale{};
    out.scale.push_back(scale * unit);
    out.offset.push_back(offset);
  }
  return out;
}

Picture picture_of(const dl_view& view, int64_t row, const PixelScale& pixels) {
  const PictureShape shape = picture_shape(view);
  std::vector<double> values = values_of(view, row, shape);
  const auto channels = static_cast<size_t>(shape.channels);
  if (pixels.scale.empty()) {
    stretch(values);
  } else {
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = i % channels % pixels.scale.size();
      values[i] = (values[i] - pixels.offset[c]) / pixels.scale[c];
    }
  }
  Picture picture(shape.width, shape.height);
  for (size_t p = 0; p < picture.rgb.size() / 3; ++p) {
    const double* value = &values[p * channels];
    const double alpha = channels == 4 ? std::clamp(value[3] / 255, 0.0, 1.0) : 1;
    for (size_t c = 0; c < 3; ++c) {
      picture.rgb[p * 3 + c] = to_byte(value[channels == 1 ? 0 : c] * alpha + kBackground * (1 - alpha));
    }
  }
  return picture;
}

}  // namespace dataline::cli
