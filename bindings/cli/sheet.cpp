// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/sheet.h"

#include <algorithm>
#include <cstring>

#include "bindings/cli/failure.h"
#include "bindings/cli/font.h"

namespace dataline::cli {
namespace {

constexpr int64_t kGap = 4;          // around cells
constexpr int64_t kMinShown = 96;    // pixels of the longer side, about: smaller pictures are enlarged
constexpr int64_t kLargeText = 160;  // from this cell size on letters are twice as large
constexpr uint8_t kPaper = 24, kInk = 230;

}  // namespace

Sheet::Sheet(int64_t count, int64_t columns, int64_t width, int64_t height)
    : columns_(std::min(columns, count)) {
  const int64_t longer = std::max(width, height);
  const int64_t enlarged = std::max<int64_t>(1, (kMinShown + longer / 2) / longer);
  cell_width_ = width * enlarged;
  text_scale_ = cell_width_ >= kLargeText ? 2 : 1;
  cell_height_ = height * enlarged;
  const int64_t rows = (count + columns_ - 1) / columns_;
  const int64_t sheet_width = columns_ * (cell_width_ + kGap) + kGap;
  const int64_t row_height = cell_height_ + kGap + kGlyphRows * text_scale_ + kGap;
  if (sheet_width > kMaxSheetBytes / 3 / (rows * row_height + kGap)) {
    throw Failure{.message = "a sheet of " + std::to_string(count) + " pictures of " + std::to_string(width) +
                             " wide, " + std::to_string(height) +
                             " high is larger than 1 GiB; use fewer with -n"};
  }
  sheet_ = Picture(sheet_width, rows * row_height + kGap);
  std::fill(sheet_.rgb.begin(), sheet_.rgb.end(), kPaper);
}

void Sheet::add(const Picture& picture, std::string_view text) {
  const int64_t left = kGap + next_ % columns_ * (cell_width_ + kGap);
  const int64_t top = kGap + next_ / columns_ * (cell_height_ + kGap + kGlyphRows * text_scale_ + kGap);
  ++next_;
  const int64_t factor =
      std::max<int64_t>(1, std::min(cell_width_ / picture.width, cell_height_ / picture.height));
  int64_t width = picture.width * factor, height = picture.height * factor;
  if (width > cell_width_ || height > cell_height_) {
    const double shrunk = std::min(static_cast<double>(cell_width_) / static_cast<double>(picture.width),
                                   static_cast<double>(cell_height_) / static_cast<double>(picture.height));
    width = std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(picture.width) * shrunk), 1,
                                cell_width_);
    height = std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(picture.height) * shrunk), 1,
                                 cell_height_);
  }
  const Picture shown = resized(picture, width, height);
  const int64_t x = left + (cell_width_ - width) / 2, y = top + (cell_height_ - height) / 2;
  for (int64_t row = 0; row < height; ++row)
    std::memcpy(sheet_.at(x, y + row), shown.at(0, row), static_cast<size_t>(width) * 3);
  draw_text(text, left, top + cell_height_ + kGap / 2);
}

void Sheet::draw_text(std::string_view text, int64_t left, int64_t top) {
  const int64_t advance = kGlyphAdvance * text_scale_;
  const auto room = static_cast<size_t>((cell_width_ + text_scale_) / advance);
  std::string_view shown = text.substr(0, room);
  for (size_t i = 0; i < shown.size(); ++i) {
    for (int64_t y = 0; y < kGlyphRows * text_scale_; ++y) {
      for (int64_t x = 0; x < kGlyphColumns * text_scale_; ++x) {
        if (!glyph_pixel(shown[i], static_cast<int>(x / text_scale_), static_cast<int>(y / text_scale_)))
          continue;
        std::memset(sheet_.at(left + static_cast<int64_t>(i) * advance + x, top + y), kInk, 3);
      }
    }
  }
}

Picture resized(const Picture& picture, int64_t width, int64_t height) {
  if (width == picture.width && height == picture.height) return picture;
  Picture out(width, height);
  for (int64_t y = 0; y < height; ++y) {
    const int64_t y0 = y * picture.height / height, y1 = std::max(y0 + 1, (y + 1) * picture.height / height);
    for (int64_t x = 0; x < width; ++x) {
      const int64_t x0 = x * picture.width / width, x1 = std::max(x0 + 1, (x + 1) * picture.width / width);
      int64_t sum[3] = {0, 0, 0};
      for (int64_t v = y0; v < y1; ++v) {
        for (int64_t u = x0; u < x1; ++u) {
          for (int c = 0; c < 3; ++c) sum[c] += picture.at(u, v)[c];
        }
      }
      const int64_t area = (y1 - y0) * (x1 - x0);
      for (int c = 0; c < 3; ++c) out.at(x, y)[c] = static_cast<uint8_t>((sum[c] + area / 2) / area);
    }
  }
  return out;
}

}  // namespace dataline::cli
