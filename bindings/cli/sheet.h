// A contact sheet: pictures in a grid, each with a line of text under it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "bindings/cli/png_file.h"

namespace dataline::cli {

class Sheet {
 public:
  // `count` cells for pictures of at most width x height, `columns` per row. Small pictures are enlarged by a whole factor.
  // Throws Failure if the sheet would be larger than kMaxSheetBytes.
  Sheet(int64_t count, int64_t columns, int64_t width, int64_t height);

  // Fills the next cell. A larger picture is reduced to fit, keeping its aspect ratio; a smaller one is enlarged by the largest
  // whole factor that fits, and centred. Text (ASCII) that does not fit is cut.
  void add(const Picture& picture, std::string_view text);

  const Picture& picture() const { return sheet_; }

 private:
  void draw_text(std::string_view text, int64_t left, int64_t top);

  int64_t columns_, cell_width_, cell_height_;
  int64_t text_scale_ = 1;
  int64_t next_ = 0;
  Picture sheet_;
};

constexpr int64_t kMaxSheetBytes = int64_t{1} << 30;

// Reduces a picture: each pixel is the mean of the area it covers.
Picture resized(const Picture& picture, int64_t width, int64_t height);

}  // namespace dataline::cli
