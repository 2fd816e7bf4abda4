// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/half_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bindings/cli/progress.h"
#include "bindings/cli/sheet.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr int64_t kPictureColumns = 64, kPictureRows = 24;
constexpr char kUpperHalf[] = "\xE2\x96\x80";

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The nearest of the 6x6x6 colours, or of the 24 greys, of a palette of 256.
int palette_index(const uint8_t* rgb) {
  const auto [low, high] = std::minmax({rgb[0], rgb[1], rgb[2]});
  constexpr int kAlike = 8, kFirstGrey = 232, kGreys = 24, kCube = 16;
  if (high - low < kAlike && low > 3 && high < 247)
    return kFirstGrey + std::clamp((rgb[1] - 3) / 10, 0, kGreys - 1);
  const auto step = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return kCube + 36 * step(rgb[0]) + 6 * step(rgb[1]) + step(rgb[2]);
}

// `ground`: 38 the character's colour, 48 its background's.
std::string colour(const uint8_t* rgb, int ground, Colours colours) {
  const std::string start = "\x1b[" + std::to_string(ground);
  if (colours == Colours::k256) return start + ";5;" + std::to_string(palette_index(rgb)) + "m";
  return start + ";2;" + std::to_string(rgb[0]) + ";" + std::to_string(rgb[1]) + ";" +
         std::to_string(rgb[2]) + "m";
}

Picture fitted(const Picture& picture, int64_t columns) {
  const double factor =
      std::min({1.0, static_cast<double>(columns) / static_cast<double>(picture.width),
                static_cast<double>(kPictureRows * 2) / static_cast<double>(picture.height)});
  const auto side = [factor](int64_t n) {
    return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n) * factor));
  };
  return factor < 1 ? resized(picture, side(picture.width), side(picture.height)) : picture;
}

}  // namespace

bool terminal_shows_utf8() { return !standard_output_is_terminal() || locale_is_utf8(); }

Colours terminal_colours() {
  const std::string_view term = environment("TERM"), colorterm = environment("COLORTERM");
  if (!standard_output_is_terminal() || !locale_is_utf8() || !environment("NO_COLOR").empty() ||
      term == "dumb")
    return Colours::kNone;
  if (colorterm == "truecolor" || colorterm == "24bit") return Colours::kAll;
  return term.find("256color") != std::string_view::npos ? Colours::k256 : Colours::kNone;
}

std::string half_blocks(const Picture& picture, Colours colours, size_t columns, size_t indent) {
  const int64_t room = columns > indent ? static_cast<int64_t>(columns - indent) : 1;
  const Picture small = fitted(picture, std::min(room, kPictureColumns));
  const auto pixel = [&small](int64_t x, int64_t y) {
    return small.rgb.data() + static_cast<size_t>(3 * (y * small.width + x));
  };
  std::string out;
  for (int64_t y = 0; y < small.height; y += 2) {
    out += std::string(indent, ' ');
    for (int64_t x = 0; x < small.width; ++x) {
      out += colour(pixel(x, y), 38, colours);
      if (y + 1 < small.height) out += colour(pixel(x, y + 1), 48, colours);
      out += kUpperHalf;
    }
    out += "\x1b[0m\n";
  }
  return out;
}

}  // namespace dataline::cli
