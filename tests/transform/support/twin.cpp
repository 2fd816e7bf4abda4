// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/support/twin.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "core/base/random.h"

namespace dataline::tests {
namespace {

// Wide enough for every integer of 64 bits.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// A binary format of small floats: value = fraction bits over 2^`fraction`, least exponent `least`.
struct SmallFloat {
  int fraction;
  int least;     // exponent of the smallest normal number
  int greatest;  // of the largest
};
constexpr SmallFloat kHalf{10, -14, 15};
constexpr SmallFloat kBrain{7, -126, 127};

Wide decode(SmallFloat format, uint16_t bits) {
  const int exponent_mask = (1 << (15 - format.fraction)) - 1;
  const int exponent = (bits >> format.fraction) & exponent_mask;
  const int fraction = bits & ((1 << format.fraction) - 1);
  const Wide sign = bits & 0x8000 ? -1 : 1;
  if (exponent == exponent_mask)
    return fraction != 0 ? std::numeric_limits<Wide>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<Wide>(fraction), format.least - format.fraction);
  return sign * std::ldexp(1 + std::ldexp(static_cast<Wide>(fraction), -format.fraction),
                           exponent - 1 + format.least);
}

uint16_t encode(SmallFloat format, Wide value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const Wide magnitude = std::fabs(value);
  const int exponent_mask = (1 << (15 - format.fraction)) - 1;
  const int infinity = sign | exponent_mask << format.fraction;
  if (std::isinf(magnitude)) return static_cast<uint16_t>(infinity);
  int exponent = magnitude == 0 ? format.least : std::max(std::ilogb(magnitude), format.least);
  // In units of the last place, rounded to the nearest even one.
  Wide units = std::nearbyint(std::ldexp(magnitude, format.fraction - exponent));
  if (units == std::ldexp(Wide{1}, format.fraction + 1)) units /= 2, ++exponent;
  if (exponent > format.greatest) return static_cast<uint16_t>(infinity);
  const int whole = static_cast<int>(units);
  if (whole < 1 << format.fraction) return static_cast<uint16_t>(sign | whole);
  return static_cast<uint16_t>(sign | (exponent - format.least + 1) << format.fraction |
                               (whole - (1 << format.fraction)));
}

Wide get(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::kBool:
      return load<uint8_t>(from) != 0 ? 1 : 0;
    case DType::kU8:
      return load<uint8_t>(from);
    case DType::kU16:
      return load<uint16_t>(from);
    case DType::kU32:
      return load<uint32_t>(from);
    case DType::kU64:
      return load<uint64_t>(from);
    case DType::kI8:
      return load<int8_t>(from);
    case DType::kI16:
      return load<int16_t>(from);
    case DType::kI32:
      return load<int32_t>(from);
    case DType::kI64:
      return load<int64_t>(from);
    case DType::kF16:
      return decode(kHalf, load<uint16_t>(from));
    case DType::kBf16:
      return decode(kBrain, load<uint16_t>(from));
    case DType::kF32:
    case DType::kC64:
      return load<float>(from);
    case DType::kF64:
    case DType::kC128:
      return load<double>(from);
  }
  return 0;
}

template <typename Int>
void put_integer(std::byte* to, Wide value) {
  using Limits = std::numeric_limits<Int>;
  if (std::isnan(value)) return store<Int>(to, 0);
  if (value <= static_cast<Wide>(Limits::min())) return store<Int>(to, Limits::min());
  if (value >= static_cast<Wide>(Limits::max())) return store<Int>(to, Limits::max());
  store<Int>(to, static_cast<Int>(std::trunc(value)));
}

void put(DType dtype, std::byte* to, Wide value) {
  switch (dtype) {
    case DType::kBool:
      return store<uint8_t>(to, value != 0 ? 1 : 0);
    case DType::kU8:
      return put_integer<uint8_t>(to, value);
    case DType::kU16:
      return put_integer<uint16_t>(to, value);
    case DType::kU32:
      return put_integer<uint32_t>(to, value);
    case DType::kU64:
      return put_integer<uint64_t>(to, value);
    case DType::kI8:
      return put_integer<int8_t>(to, value);
    case DType::kI16:
      return put_integer<int16_t>(to, value);
    case DType::kI32:
      return put_integer<int32_t>(to, value);
    case DType::kI64:
      return put_integer<int64_t>(to, value);
    case DType::kF16:
      return store(to, encode(kHalf, value));
    case DType::kBf16:
      return store(to, encode(kBrain, value));
    case DType::kF32:
      return store(to, static_cast<float>(value));
    case DType::kF64:
      return store(to, static_cast<double>(value));
    case DType::kC64:
      return store(to, static_cast<float>(value)), store(to + 4, 0.0f);
    case DType::kC128:
      return store(to, static_cast<double>(value)), store(to + 8, 0.0);
  }
}

// The 23 upper payload bits of a NaN, quiet, and its sign: what every float conversion keeps, as far as it fits.
uint32_t nan_bits(DType dtype, const std::byte* from) {
  if (dtype == DType::kF32 || dtype == DType::kC64) return load<uint32_t>(from);
  if (dtype == DType::kBf16) return static_cast<uint32_t>(load<uint16_t>(from)) << 16;
  if (dtype == DType::kF16) {
    const uint32_t half = load<uint16_t>(from);
    return (half & 0x8000) << 16 | 0x7fc00000 | (half & 0x3ff) << 13;
  }
  const uint64_t bits = load<uint64_t>(from);
  return static_cast<uint32_t>(bits >> 63 << 31 | 0x7fc00000 | (bits >> 29 & 0x7fffff));
}

bool keeps_nan(DType dtype) { return dtype_is_float(dtype) || is_complex(dtype); }

void put_nan(DType from_dtype, const std::byte* from, DType dtype, std::byte* to) {
  const uint32_t bits = nan_bits(from_dtype, from);
  const bool from_f64 = from_dtype == DType::kF64 || from_dtype == DType::kC128;
  if (dtype == DType::kF16)
    return store(to, static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff)));
  if (dtype == DType::kBf16) return store(to, static_cast<uint16_t>(bits >> 16 | 0x40));
  // What is not converted keeps all its bits: f32 in c64, f64 in c128, and a bf16, which is a part of an f32.
  if (dtype == DType::kF32 || dtype == DType::kC64) return store(to, bits);
  if (from_f64) return store(to, load<uint64_t>(from));
  store(to, uint64_t{bits >> 31} << 63 | 0x7ff8000000000000 | uint64_t{bits & 0x7fffff} << 29);
}

void convert(DType from_dtype, const std::byte* from, DType to_dtype, std::byte* to) {
  const Wide value = get(from_dtype, from);
  if (!std::isnan(value) || !keeps_nan(to_dtype)) return put(to_dtype, to, value);
  put(to_dtype, to, 0);
  put_nan(from_dtype, from, to_dtype, to);
}

int64_t channel_of(const Tensor& in, int64_t element) {
  const size_t axis = in.axes.find('C');
  if (axis == std::string::npos) return 0;
  int64_t inner = 1;
  for (size_t i = axis + 1; i < in.shape.size(); ++i) inner *= in.shape[i];
  return element / inner % in.shape[axis];
}

float as_f32(const Tensor& in, int64_t element) {
  std::byte out[16];
  convert(in.dtype, in.at(element), DType::kF32, out);
  return load<float>(out);
}

// Sizes of an image and how to reach a pixel's element, for HW, HWC, CHW.
struct Image {
  int64_t height, width, channels;
  bool planar;
  int64_t element(int64_t y, int64_t x, int64_t c) const {
    return planar ? (c * height + y) * width + x : (y * width + x) * channels + c;
  }
};

Image image_of(const Tensor& in) {
  if (in.axes == "CHW") return {in.shape[1], in.shape[2], in.shape[0], true};
  return {in.shape[0], in.shape[1], in.axes == "HWC" ? in.shape[2] : 1, false};
}

// The same kind of image in another size; element(y, x, c) fills `to`.
template <typename Element>
Tensor resized(const Tensor& in, int64_t height, int64_t width, Element element) {
  std::vector<int64_t> shape = in.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (in.axes[i] == 'H') shape[i] = height;
    if (in.axes[i] == 'W') shape[i] = width;
  }
  Tensor out = empty_tensor(in.dtype, shape, in.axes);
  const Image image = image_of(out);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < image.channels; ++c) element(y, x, c, out.at(image.element(y, x, c)));
    }
  }
  return out;
}

}  // namespace

uint64_t Draw::bits(uint64_t number) const {
  const uint64_t key = random_key(seed, static_cast<uint64_t>(epoch), Domain::kAugment);
  return random_bits(key, static_cast<uint64_t>(slot), static_cast<uint64_t>(place) + (number << 32));
}

Tensor twin_cast(const Tensor& in, DType to) {
  if (to == in.dtype) return in;
  Tensor out = empty_tensor(to, in.shape, in.axes);
  const int64_t half_in = dtype_bytes(in.dtype) / 2, half_out = dtype_bytes(to) / 2;
  for (int64_t i = 0; i < in.count(); ++i) {
    convert(in.dtype, in.at(i), to, out.at(i));
    if (!is_complex(in.dtype)) continue;
    std::byte imaginary[16];
    convert(in.dtype, in.at(i) + half_in, to, imaginary);
    std::memcpy(out.at(i) + half_out, imaginary, static_cast<size_t>(half_out));
  }
  return out;
}

Tensor twin_scale(const Tensor& in, double factor) {
  Tensor out = empty_tensor(DType::kF32, in.shape, in.axes);
  for (int64_t i = 0; i < in.count(); ++i) store(out.at(i), as_f32(in, i) * static_cast<float>(factor));
  return out;
}

Tensor twin_normalize(const Tensor& in, const std::vector<double>& mean,
                      const std::vector<double>& deviation) {
  Tensor out = empty_tensor(DType::kF32, in.shape, in.axes);
  const double most = in.dtype == DType::kU8 ? 255 : in.dtype == DType::kU16 ? 65535 : 1;
  for (int64_t i = 0; i < in.count(); ++i) {
    const auto channel = static_cast<size_t>(channel_of(in, i));
    const double m = mean.size() == 1 ? mean[0] : mean[channel];
    const double d = deviation.size() == 1 ? deviation[0] : deviation[channel];
    const float a = static_cast<float>(1.0 / (most * d)), b = static_cast<float>(-m / d);
    const float product = as_f32(in, i) * a;
    store(out.at(i), product + b);
  }
  return out;
}

Tensor twin_reshape(const Tensor& in, std::vector<int64_t> shape) {
  Tensor out = in;
  out.shape = std::move(shape);
  out.axes = "";
  return out;
}

Tensor twin_chw(const Tensor& in) {
  Tensor source = in;
  if (source.axes.empty()) source.axes = source.shape.size() == 2 ? "HW" : "HWC";
  const Image image = image_of(source);
  Tensor out = empty_tensor(in.dtype, {image.channels, image.height, image.width}, "CHW");
  const Image planar = image_of(out);
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x)
      for (int64_t c = 0; c < image.channels; ++c)
        std::memcpy(out.at(planar.element(y, x, c)), source.at(image.element(y, x, c)),
                    static_cast<size_t>(dtype_bytes(in.dtype)));
  return out;
}

Tensor twin_hwc(const Tensor& in) {
  Tensor source = in;
  if (source.axes.empty()) source.axes = source.shape.size() == 2 ? "HW" : "CHW";
  const Image image = image_of(source);
  Tensor out = empty_tensor(in.dtype, {image.height, image.width, image.channels}, "HWC");
  const Image packed = image_of(out);
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x)
      for (int64_t c = 0; c < image.channels; ++c)
        std::memcpy(out.at(packed.element(y, x, c)), source.at(image.element(y, x, c)),
                    static_cast<size_t>(dtype_bytes(in.dtype)));
  return out;
}

Tensor twin_pad_to(const Tensor& in, int64_t length, double value) {
  std::vector<int64_t> shape = in.shape;
  shape[0] = length;
  Tensor out = empty_tensor(in.dtype, shape, in.axes);
  for (int64_t i = 0; i < out.count(); ++i) {
    if (i < in.count())
      std::memcpy(out.at(i), in.at(i), static_cast<size_t>(dtype_bytes(in.dtype)));
    else
      put(in.dtype, out.at(i), value);
  }
  return out;
}

Tensor twin_one_hot(const Tensor& in, int64_t classes, DType dtype) {
  std::vector<int64_t> shape = in.shape;
  shape.push_back(classes);
  Tensor out = empty_tensor(dtype, shape, in.axes == "HW" ? "HWC" : "");
  for (int64_t i = 0; i < in.count(); ++i)
    for (int64_t k = 0; k < classes; ++k)
      put(dtype, out.at(i * classes + k), get(in.dtype, in.at(i)) == static_cast<Wide>(k) ? 1 : 0);
  return out;
}

Tensor twin_random_crop(const Tensor& in, int64_t height, int64_t width, std::array<int64_t, 4> padding,
                        double fill, const Draw& draw) {
  const Image image = image_of(in);
  const int64_t left = padding[0], top = padding[1], right = padding[2], bottom = padding[3];
  const int64_t tops = top + image.height + bottom - height + 1,
                lefts = left + image.width + right - width + 1;
  const auto y0 = static_cast<int64_t>(random_below(draw.bits(0), static_cast<uint64_t>(tops)));
  const auto x0 = static_cast<int64_t>(random_below(draw.bits(1), static_cast<uint64_t>(lefts)));
  return resized(in, height, width, [&](int64_t y, int64_t x, int64_t c, std::byte* to) {
    const int64_t sy = y + y0 - top, sx = x + x0 - left;
    const bool inside = sy >= 0 && sy < image.height && sx >= 0 && sx < image.width;
    if (inside)
      std::memcpy(to, in.at(image.element(sy, sx, c)), static_cast<size_t>(dtype_bytes(in.dtype)));
    else
      put(in.dtype, to, fill);
  });
}

// torchvision v2 center_crop_image: the image is padded with zeros to the size, what is odd behind it, then cropped.
Tensor twin_center_crop(const Tensor& in, int64_t height, int64_t width) {
  const Image image = image_of(in);
  const int64_t rows = std::max<int64_t>(0, height - image.height);
  const int64_t columns = std::max<int64_t>(0, width - image.width);
  const int64_t padded_height = image.height + rows, padded_width = image.width + columns;
  // Python's round(): halves go to the even neighbour, as nearbyint does in the default mode.
  const auto y0 =
      static_cast<int64_t>(std::nearbyint(static_cast<double>(padded_height - height) / 2.0)) - rows / 2;
  const auto x0 =
      static_cast<int64_t>(std::nearbyint(static_cast<double>(padded_width - width) / 2.0)) - columns / 2;
  return resized(in, height, width, [&](int64_t y, int64_t x, int64_t c, std::byte* to) {
    const int64_t sy = y + y0, sx = x + x0;
    const auto bytes = static_cast<size_t>(dtype_bytes(in.dtype));
    if (sy >= 0 && sy < image.height && sx >= 0 && sx < image.width)
      std::memcpy(to, in.at(image.element(sy, sx, c)), bytes);
    else
      std::memset(to, 0, bytes);
  });
}

Tensor twin_vflip(const Tensor& in, double probability, const Draw& draw) {
  const Image image = image_of(in);
  const bool flipped = random_unit(draw.bits(0)) < probability;
  return resized(in, image.height, image.width, [&](int64_t y, int64_t x, int64_t c, std::byte* to) {
    const int64_t sy = flipped ? image.height - 1 - y : y;
    std::memcpy(to, in.at(image.element(sy, x, c)), static_cast<size_t>(dtype_bytes(in.dtype)));
  });
}

Tensor twin_hflip(const Tensor& in, double probability, const Draw& draw) {
  const Image image = image_of(in);
  const bool flipped = random_unit(draw.bits(0)) < probability;
  return resized(in, image.height, image.width, [&](int64_t y, int64_t x, int64_t c, std::byte* to) {
    const int64_t sx = flipped ? image.width - 1 - x : x;
    std::memcpy(to, in.at(image.element(y, sx, c)), static_cast<size_t>(dtype_bytes(in.dtype)));
  });
}

}  // namespace dataline::tests
