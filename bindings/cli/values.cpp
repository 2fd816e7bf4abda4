// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "bindings/cli/pixels.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr int kDigits = 8;

const std::byte* bytes_of(const dl_view& view) {
  return static_cast<const std::byte*>(view.data) + view.byte_offset;
}

template <typename T>
T load(const dl_view& view, int64_t element) {
  T value;
  std::memcpy(&value, bytes_of(view) + element * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

// The shortest text that gives this value back, of at most `digits` digits.
template <typename Float>
std::string float_text(Float value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char shortest[64], cut[64];
  const std::string_view whole(shortest, std::to_chars(shortest, std::end(shortest), value).ptr);
  const std::string_view few(
      cut, std::to_chars(cut, std::end(cut), value, std::chars_format::general, digits).ptr);
  return std::string(whole.size() < few.size() ? whole : few);
}

template <typename Float>
std::string complex_text(const dl_view& view, int64_t element) {
  const std::string imaginary = float_text(load<Float>(view, element * 2 + 1), kDigits);
  return float_text(load<Float>(view, element * 2), kDigits) + (imaginary[0] == '-' ? "" : "+") + imaginary +
         "j";
}

// Digits that tell all values of the dtype apart, as far as they are shown.
int digits_of(int32_t dtype) {
  constexpr int kHalf = 5, kBfloat = 4;
  return dtype == DL_DTYPE_F16 ? kHalf : dtype == DL_DTYPE_BF16 ? kBfloat : kDigits;
}

class ArrayWriter {
 public:
  explicit ArrayWriter(const SampleView& sample) : sample_(sample) {
    sample.for_each([&](int64_t element) {
      columns_ = std::max(columns_, value_text(*sample.view, element).size());
      return true;
    });
    write(0, sample.first);
  }
  std::string text;

 private:
  void write(size_t dim, int64_t element) {
    if (dim == sample_.shape.size()) {
      const std::string value = value_text(*sample_.view, element);
      text += std::string(dim == 0 ? 0 : columns_ - value.size(), ' ') + value;
      return;
    }
    text += '[';
    for (int64_t i = 0; i < sample_.shape[dim]; ++i) {
      const size_t below = sample_.shape.size() - dim - 1;  // dims
      if (i > 0) text += below == 0 ? " " : std::string(below, '\n') + std::string(dim + 1, ' ');
      write(dim + 1, element + i * sample_.strides[dim]);
    }
    text += ']';
  }

  const SampleView& sample_;
  size_t columns_ = 0;
};

}  // namespace

int64_t SampleView::count() const {
  int64_t out = 1;
  for (const int64_t n : shape) out *= n;
  return out;
}

bool SampleView::is_integer() const { return view->dtype >= DL_DTYPE_U8 && view->dtype <= DL_DTYPE_I64; }
bool SampleView::is_complex() const { return view->dtype == DL_DTYPE_C64 || view->dtype == DL_DTYPE_C128; }
bool SampleView::is_bytes() const {
  return view->kind == DL_KIND_RAGGED && view->dtype == DL_DTYPE_U8 && shape.size() == 1 && strides[0] == 1;
}

std::string_view SampleView::bytes() const {
  return {reinterpret_cast<const char*>(bytes_of(*view)) + first, static_cast<size_t>(count())};
}

void SampleView::for_each(const std::function<bool(int64_t element)>& visit) const {
  if (count() == 0) return;
  std::vector<int64_t> at(shape.size());
  for (int64_t element = first; visit(element);) {
    size_t dim = shape.size();
    for (; dim > 0; --dim) {
      element += strides[dim - 1];
      if (++at[dim - 1] < shape[dim - 1]) break;
      element -= at[dim - 1] * strides[dim - 1];
      at[dim - 1] = 0;
    }
    if (dim == 0) return;
  }
}

SampleView sample_of(const dl_view& view, int64_t row) {
  SampleView out{.view = &view};
  const bool ragged = view.kind == DL_KIND_RAGGED;
  if (ragged) {
    out.shape.push_back(view.offsets[row + 1] - view.offsets[row]);
    out.strides.push_back(view.strides[0]);
  }
  for (int32_t i = 1; i < view.rank; ++i) {
    out.shape.push_back(view.shape[i]);
    out.strides.push_back(view.strides[i]);
  }
  out.first = (ragged ? view.offsets[row] : row) * view.strides[0];
  return out;
}

std::string value_text(const dl_view& view, int64_t element) {
  switch (view.dtype) {
    case DL_DTYPE_BOOL:
      return load<uint8_t>(view, element) != 0 ? "True" : "False";
    case DL_DTYPE_U64:
      return std::to_string(load<uint64_t>(view, element));
    case DL_DTYPE_F32:
      return float_text(load<float>(view, element), kDigits);
    case DL_DTYPE_F16:
    case DL_DTYPE_BF16:
    case DL_DTYPE_F64:
      return float_text(value_at(view, element), digits_of(view.dtype));
    case DL_DTYPE_C64:
      return complex_text<float>(view, element);
    case DL_DTYPE_C128:
      return complex_text<double>(view, element);
    default:
      return std::to_string(integer_at(view, element));
  }
}

int64_t integer_at(const dl_view& view, int64_t element) {
  if (view.dtype == DL_DTYPE_I64) return load<int64_t>(view, element);
  if (view.dtype == DL_DTYPE_U64)
    return static_cast<int64_t>(std::min<uint64_t>(load<uint64_t>(view, element), INT64_MAX));
  return static_cast<int64_t>(value_at(view, element));
}

Summary summary_of(const SampleView& sample) {
  Summary out{.min = std::numeric_limits<double>::infinity(), .max = -out.min};
  double sum = 0;
  sample.for_each([&](int64_t element) {
    const double value = value_at(*sample.view, element);
    if (std::isnan(value)) {
      ++out.nan;
    } else if (std::isinf(value)) {
      ++out.infinite;
    } else {
      out.min = std::min(out.min, value), out.max = std::max(out.max, value);
      sum += value;
      ++out.finite;
    }
    return true;
  });
  if (out.finite > 0) out.mean = sum / static_cast<double>(out.finite);
  return out;
}

std::string array_text(const SampleView& sample) { return ArrayWriter(sample).text; }

std::string summary_text(const SampleView& sample, size_t width) {
  std::string out;
  if (!sample.is_complex()) {
    constexpr int kFew = 6;
    const Summary summary = summary_of(sample);
    if (summary.finite > 0)
      out = "min " + float_text(summary.min, kFew) + ", max " + float_text(summary.max, kFew) + ", mean " +
            float_text(summary.mean, kFew);
    const auto also = [&out](int64_t count, const char* what) {
      if (count > 0) out += (out.empty() ? "" : ", ") + grouped(count) + " " + what;
    };
    also(summary.nan, "nan");
    also(summary.infinite, "infinite");
    out += "; ";
  }
  out += "first";
  constexpr size_t kDots = 4;
  sample.for_each([&](int64_t element) {
    const std::string value = " " + value_text(*sample.view, element);
    if (out.size() + value.size() + kDots > width && !out.ends_with("first")) return false;
    out += value;
    return true;
  });
  return out + " ...";
}

}  // namespace dataline::cli
