// One sample's part of a field as text: values as NumPy writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

// Borrows from the batch's view.
struct SampleView {
  const dl_view* view = nullptr;
  int64_t first = 0;  // element
  std::vector<int64_t> shape{}, strides{};

  int64_t count() const;
  bool is_integer() const;
  bool is_complex() const;
  bool is_bytes() const;  // a ragged field of u8: text or anything else
  std::string_view bytes() const;
  // Calls with the place of each element, in C order, until `visit` returns false.
  void for_each(const std::function<bool(int64_t element)>& visit) const;
};

SampleView sample_of(const dl_view& view, int64_t row);

// "5", "-0.25", "True", "1+2j", "nan". Whole numbers exactly, floats in as many digits as tell them apart, at most 8.
std::string value_text(const dl_view& view, int64_t element);
int64_t integer_at(const dl_view& view,
                   int64_t element);  // of an integer dtype; u64 above INT64_MAX: INT64_MAX

struct Summary {
  double min = 0, max = 0, mean = 0;  // of the finite values
  int64_t finite = 0, nan = 0, infinite = 0;
};
Summary summary_of(const SampleView& sample);  // not of complex values

// "[[1 2]\n [3 4]]": all values, in columns; a value alone without brackets.
std::string array_text(const SampleView& sample);
// "min 0, max 255, mean 33.4, 2 nan; first 0 0 0 ...", at most `width` columns.
std::string summary_text(const SampleView& sample, size_t width);

}  // namespace dataline::cli
