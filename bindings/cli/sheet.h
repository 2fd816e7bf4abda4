// A contact sheet: pictures in a grid, each with a line of text under it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "bindings/cli/png_file.h"

namespace dataline::cli {

class Sheet {
 public:
  // `count` places for pictures of at most width x height, `columns` of them in a row. Small pictures are enlarged by
  // a whole factor. Throws Failure when the sheet would be larger than kMostSheetBytes.
  Sheet(int64_t count, int64_t columns, int64_t width, int64_t height);

  // Fills the next place. A picture that is larger is reduced to fit, keeping its shape; one that is smaller is enlarged
  // by the largest whole factor that fits, and stands in the middle. Text (ASCII) that does not fit is cut.
  void add(const Picture& picture, std::string_view text);

  const Picture& picture() const { return sheet_; }

 private:
  void draw_text(std::string_view text, int64_t left, int64_t top);

  int64_t columns_, cell_width_, cell_height_;
  int64_t text_scale_ = 1;
  int64_t next_ = 0;
  Picture sheet_;
};

constexpr int64_t kMostSheetBytes = int64_t{1} << 30;

// The picture as `width` x `height`: each pixel the mean of the area it covers.
Picture resized(const Picture& picture, int64_t width, int64_t height);

}  // namespace dataline::cli
