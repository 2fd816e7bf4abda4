// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/turned_lines.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kLinesAtOnce = 8;

// How PIL.ImageOps.exif_transpose turns: the stored image is transposed (or not), then mirrored.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};
constexpr Turn kTurns[] = {
    {false, false, false},  // 1
    {false, true, false},   // 2
    {false, true, true},    // 3: by 180 degrees
    {false, false, true},   // 4
    {true, false, false},   // 5
    {true, true, false},    // 6: clockwise
    {true, true, true},     // 7
    {true, false, true},    // 8: anticlockwise
};

// The rectangle of the stored image that holds `region` of the turned one.
ImageRegion stored(const Turn& turn, const ImageHeader& header, ImageRegion region) {
  const int64_t height = turn.transpose ? header.width : header.height;
  const int64_t width = turn.transpose ? header.height : header.width;
  if (turn.mirror_x) region.left = width - region.left - region.width;
  if (turn.mirror_y) region.top = height - region.top - region.height;
  if (turn.transpose) return {region.left, region.top, region.width, region.height};
  return region;
}

}  // namespace

Status TurnedLines::start(FormatDecoder& decoder, const ImageHeader& header, const ImageRegion& region,
                          FrameScratch& scratch) {
  const Turn turn = kTurns[header.orientation - 1];
  const ImageRegion from = stored(turn, header, region);
  const int64_t pixel = decoder.channels() * decoder.element_bytes();
  const int64_t line_bytes = region.width * pixel;
  const int64_t pointer_bytes = region.height * static_cast<int64_t>(sizeof(std::byte*));
  std::byte* pixels = scratch.take(region.height * line_bytes);
  std::byte** table = reinterpret_cast<std::byte**>(scratch.take(pointer_bytes));
  if (pixels == nullptr || table == nullptr) {
    return scratch.too_large(header.height, header.width, region.height * line_bytes + pointer_bytes);
  }
  for (int64_t y = 0; y < region.height; ++y) table[y] = pixels + y * line_bytes;

  const int64_t step_x =
      turn.transpose ? line_bytes : pixel;  // in the turned image, for one stored pixel to the right
  const int64_t signed_x = (turn.transpose ? turn.mirror_y : turn.mirror_x) ? -step_x : step_x;
  const int64_t most = std::min(kLinesAtOnce, from.height);
  DL_RETURN_IF_ERROR(decoder.start(from, most, scratch));
  for (int64_t y = 0; y < from.height; ++y) {
    const std::byte* const* line = decoder.lines(y, 1);
    if (line == nullptr) return decoder.status();
    int64_t row = turn.transpose ? 0 : y, column = turn.transpose ? y : 0;
    if (turn.mirror_y) row = region.height - 1 - row;
    if (turn.mirror_x) column = region.width - 1 - column;
    std::byte* to = pixels + row * line_bytes + column * pixel;
    for (int64_t x = 0; x < from.width; ++x, to += signed_x) {
      std::memcpy(to, line[0] + x * pixel, static_cast<size_t>(pixel));
    }
  }
  lines_ = table;
  return Status::ok();
}

}  // namespace dataline
