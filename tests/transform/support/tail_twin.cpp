// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/support/tail_twin.h"

#include <cstring>

#include "core/transform/elements/convert.h"

namespace dataline::tests {
namespace {

struct Place {
  int64_t channel, y, x;
};

Place place_of(int64_t element, bool planar, int64_t channels, int64_t height, int64_t width) {
  if (planar) return {element / (height * width), element / width % height, element % width};
  return {element % channels, element / channels / width, element / channels % width};
}

// The element that output element `e` is made of: in the row, or of the fill.
const std::byte* source_of(const Tail& tail, const std::byte* row, const TailGeometry& view, int64_t e) {
  const int64_t bytes = dtype_bytes(tail.from);
  if (!tail.moves) return row + e * bytes;
  const auto [c, y, x] = place_of(e, tail.out_planar, tail.channels, tail.out_height, tail.out_width);
  const int64_t from_y = view.y.sign * y + view.y.offset, from_x = view.x.sign * x + view.x.offset;
  const bool seen =
      from_y >= view.y.low && from_y < view.y.high && from_x >= view.x.low && from_x < view.x.high;
  if (!seen) return tail.fill.data() + c * bytes;
  const int64_t at = tail.in_planar ? (c * tail.in_height + from_y) * tail.in_width + from_x
                                    : (from_y * tail.in_width + from_x) * tail.channels + c;
  return row + at * bytes;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

std::vector<std::byte> twin_tail(const Tail& tail, const std::vector<std::byte>& row,
                                 const TailGeometry& view) {
  const int64_t bytes = dtype_bytes(tail.to);
  const int64_t image = tail.channels * tail.out_height * tail.out_width;
  std::vector<std::byte> out(static_cast<size_t>(tail.out_bytes()));
  for (int64_t e = 0; e < image * tail.images; ++e) {
    const std::byte* const from = source_of(tail, row.data(), view, e);
    std::byte* const to = out.data() + e * bytes;
    const int64_t channel =
        place_of(e % image, tail.out_planar, tail.channels, tail.out_height, tail.out_width).channel;
    if (tail.affines.empty() && tail.from == tail.to) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      continue;
    }
    with_storage(tail.from, [&](auto stored) {
      using From = decltype(stored);
      std::memcpy(&stored, from, sizeof stored);
      with_storage(tail.to, [&](auto delivered) {
        using To = decltype(delivered);
        if constexpr (!kIsComplex<From> && !kIsComplex<To>) {
          if (tail.affines.empty()) return store(to, convert<To>(stored));
          auto value = convert<float>(stored);
          for (const TailAffine& affine : tail.affines) {
            const auto entry = static_cast<size_t>(affine.a.size() == 1 ? 0 : channel);
            value = value * affine.a[entry];
            value = value + affine.b[entry];
          }
          store(to, convert<To>(value));
        }
      });
    });
  }
  return out;
}

}  // namespace dataline::tests
