// The bodies of the kernels: the work of one thread of a launch. Compiled by nvcc and by the host compiler, so that the
// host twins run the same index arithmetic, chunking and edge cases as the device.
//
//   elements   rows that keep their order: casts and affine maps, gathers of whole rows
//   planes     images to CHW (or one channel), from any layout, cropped and flipped
//   pixels     images to HWC, from any layout, cropped and flipped
//
// Why they approach memory bandwidth: the target, the larger side of every tail that saves bus traffic, is written once,
// in chunks of 16 bytes, 512 contiguous per warp. Every source byte is read once from memory (by `planes` for all channels
// of a pixel together), as runs of words where the elements of a chunk are contiguous, else through the read-only cache.
// u8 pixels to f32 move 5 bytes per element; at 3.35 TB/s on 132 multiprocessors of 1.7 GHz that leaves 0.3
// multiprocessor cycles per element, in which 40 thread instructions can be issued; a chunk needs about 10 per element,
// and one load per four. Divisions are multiplications, one per chunk rather than per element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/kernels/fused_chunk.h"
#include "core/device/kernels/kernel_params.h"

namespace dataline {
namespace kernel {

DL_BOTH const unsigned char* row_of(const KernelParams& p, uint32_t row) {
  const int64_t at = p.index == nullptr ? row : p.index[row];
  return p.source + at * p.source_stride;
}

DL_BOTH KernelView view_of(const KernelParams& p, uint32_t row) {
  return p.geometry == nullptr ? p.view : p.geometry[row];
}

DL_BOTH bool sees(const KernelAxis& axis, int32_t at) { return at >= axis.low && at < axis.high; }

template <typename From>
DL_BOTH From fill_of(const KernelParams& p, uint32_t channel) {
  From value;
  memcpy(&value, p.fill + channel * sizeof(From), sizeof value);
  return value;
}

// ---- elements

template <typename From, typename To>
DL_BOTH void elements(const KernelParams& p, const float* a, const float* b, uint32_t thread,
                      uint32_t threads) {
  constexpr uint32_t kCount = kChunkBytes / sizeof(To);
  const uint32_t total = p.rows * p.row_elements;
  for (uint32_t chunk = thread; chunk * kCount < total; chunk += threads) {
    const uint32_t first = chunk * kCount;
    const uint32_t count = total - first < kCount ? total - first : kCount;
    uint32_t row = divide(first, p.by_row), at = first - row * p.row_elements;
    const unsigned char* from = row_of(p, row);
    From in[kCount] = {};
    if (at + kCount <= p.row_elements) {
      load_run(from + static_cast<uint64_t>(at) * sizeof(From), in);
    } else {
      uint32_t offset = at;
      DL_UNROLL
      for (uint32_t j = 0; j < kCount; ++j) {
        if (j >= count) break;
        if (offset == p.row_elements) from = row_of(p, ++row), offset = 0;
        in[j] = load<From>(from + static_cast<uint64_t>(offset++) * sizeof(From));
      }
    }
    To out[kCount];
    if (p.channels == 1) {
      finish<true>(p, a, b, in, out, [](int) { return 0u; });
    } else {  // rows hold whole images, so channels continue across row ends
      const uint32_t line = divide(at, p.by_inner);
      uint32_t inside = at - line * p.by_inner.divisor,
               channel = line - divide(line, p.by_channels) * p.channels;
      uint32_t channels[kCount];
      DL_UNROLL
      for (uint32_t j = 0; j < kCount; ++j) {
        channels[j] = channel;
        if (++inside == p.by_inner.divisor) inside = 0, channel = channel + 1 == p.channels ? 0 : channel + 1;
      }
      finish<false>(p, a, b, in, out, [&](int j) { return channels[j]; });
    }
    store_chunk(p.target + static_cast<uint64_t>(first) * sizeof(To), out, count, p.vector != 0);
  }
}

// ---- planes

// kCount pixels of one row of images, all channels.
template <typename From, typename To, int kCount>
DL_BOTH void plane_chunks(const KernelParams& p, const float* a, const float* b, uint32_t thread,
                          uint32_t threads) {
  const uint32_t plane = p.height * p.width, chunks = p.rows * p.by_row.divisor;
  for (uint32_t chunk = thread; chunk < chunks; chunk += threads) {
    const uint32_t row = divide(chunk, p.by_row), first = (chunk - row * p.by_row.divisor) * kCount;
    const unsigned char* const from = row_of(p, row);
    unsigned char* to = p.target + (static_cast<uint64_t>(row) * p.row_elements + first) * sizeof(To);
    const KernelView view = view_of(p, row);
    uint32_t y = divide(first, p.by_width), x = first - y * p.width;
    // Whether the pixels are contiguous in one line and all inside the source.
    const int32_t line = view.y.sign * static_cast<int32_t>(y) + view.y.offset;
    const int32_t column = view.x.sign * static_cast<int32_t>(x) + view.x.offset;
    const int32_t last = column + view.x.sign * (kCount - 1);
    const bool run =
        x + kCount <= p.width && sees(view.y, line) && sees(view.x, column) && sees(view.x, last);
    From in[kCount];
    To out[kCount];
    if constexpr (sizeof(From) == 1 && kCount > 1) {
      if (run && p.in_x == 3 && p.in_c == 1) {  // RGB bytes: read once, in words
        From pixels[3 * kCount];
        const int32_t leftmost = view.x.sign > 0 ? column : last;
        load_run(from + static_cast<uint64_t>(static_cast<uint32_t>(line)) * p.in_y +
                     static_cast<uint32_t>(leftmost) * 3,
                 pixels);
        DL_UNROLL
        for (int c = 0; c < 3; ++c) {
          DL_UNROLL
          for (int j = 0; j < kCount; ++j)
            in[j] = view.x.sign > 0 ? pixels[3 * j + c] : pixels[3 * (kCount - 1 - j) + c];
          finish<true>(p, a, b, in, out, [c](int) { return static_cast<uint32_t>(c); });
          store_chunk(to, out, kCount, true);
          to += static_cast<uint64_t>(plane) * sizeof(To);
        }
        continue;
      }
    }
    uint32_t offsets[kCount];
    uint32_t seen = 0;
    DL_UNROLL
    for (int j = 0; j < kCount; ++j) {
      const int32_t from_y = view.y.sign * static_cast<int32_t>(y) + view.y.offset;
      const int32_t from_x = view.x.sign * static_cast<int32_t>(x) + view.x.offset;
      offsets[j] = static_cast<uint32_t>(from_y) * p.in_y + static_cast<uint32_t>(from_x) * p.in_x;
      if (sees(view.y, from_y) && sees(view.x, from_x)) seen |= 1u << j;
      if (++x == p.width) x = 0, ++y;
    }
    const bool words = run && p.in_x == 1 && view.x.sign > 0;
    for (uint32_t c = 0; c < p.channels; ++c) {
      const unsigned char* const channel = from + static_cast<uint64_t>(c * p.in_c) * sizeof(From);
      if (words) {
        load_run(channel + static_cast<uint64_t>(offsets[0]) * sizeof(From), in);
      } else {
        DL_UNROLL
        for (int j = 0; j < kCount; ++j)
          in[j] = (seen >> j & 1) != 0
                      ? load<From>(channel + static_cast<uint64_t>(offsets[j]) * sizeof(From))
                      : fill_of<From>(p, c);
      }
      finish<true>(p, a, b, in, out, [c](int) { return c; });
      store_chunk(to, out, kCount, true);
      to += static_cast<uint64_t>(plane) * sizeof(To);
    }
  }
}

template <typename From, typename To>
DL_BOTH void planes(const KernelParams& p, const float* a, const float* b, uint32_t thread,
                    uint32_t threads) {
  if (p.vector != 0)
    plane_chunks<From, To, kChunkBytes / sizeof(To)>(p, a, b, thread, threads);
  else
    plane_chunks<From, To, 1>(p, a, b, thread, threads);  // a warp's stores are still contiguous
}

// ---- pixels

template <typename From, typename To>
DL_BOTH void pixels(const KernelParams& p, const float* a, const float* b, uint32_t thread,
                    uint32_t threads) {
  constexpr uint32_t kCount = kChunkBytes / sizeof(To);
  const uint32_t total = p.rows * p.row_elements;
  for (uint32_t chunk = thread; chunk * kCount < total; chunk += threads) {
    const uint32_t first = chunk * kCount;
    const uint32_t count = total - first < kCount ? total - first : kCount;
    uint32_t row = divide(first, p.by_row);
    const uint32_t at = first - row * p.row_elements, pixel = divide(at, p.by_channels);
    uint32_t c = at - pixel * p.channels, y = divide(pixel, p.by_width), x = pixel - y * p.width;
    const unsigned char* from = row_of(p, row);
    KernelView view = view_of(p, row);
    From in[kCount] = {};
    uint32_t channels[kCount];
    // A run: elements in one line, all inside the source, not mirrored, and in the same order as in the target.
    const uint32_t end = x + divide(c + kCount - 1, p.by_channels);
    const int32_t line = view.y.sign * static_cast<int32_t>(y) + view.y.offset;
    const int32_t column = static_cast<int32_t>(x) + view.x.offset;
    const bool run = p.in_c == 1 && view.x.sign > 0 && end < p.width && sees(view.y, line) &&
                     sees(view.x, column) && sees(view.x, static_cast<int32_t>(end) + view.x.offset);
    if (run) {
      const uint32_t offset =
          static_cast<uint32_t>(line) * p.in_y + static_cast<uint32_t>(column) * p.in_x + c;
      load_run(from + static_cast<uint64_t>(offset) * sizeof(From), in);
    }
    DL_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) {
      channels[j] = c;
      if (!run && j < count) {
        const int32_t from_y = view.y.sign * static_cast<int32_t>(y) + view.y.offset;
        const int32_t from_x = view.x.sign * static_cast<int32_t>(x) + view.x.offset;
        const uint32_t offset =
            static_cast<uint32_t>(from_y) * p.in_y + static_cast<uint32_t>(from_x) * p.in_x + c * p.in_c;
        in[j] = sees(view.y, from_y) && sees(view.x, from_x)
                    ? load<From>(from + static_cast<uint64_t>(offset) * sizeof(From))
                    : fill_of<From>(p, c);
      }
      if (++c == p.channels) {
        c = 0;
        if (++x == p.width) {
          x = 0;
          if (++y == p.height) {
            y = 0;
            if (++row < p.rows) from = row_of(p, row), view = view_of(p, row);
          }
        }
      }
    }
    To out[kCount];
    finish<false>(p, a, b, in, out, [&](int j) { return channels[j]; });
    store_chunk(p.target + static_cast<uint64_t>(first) * sizeof(To), out, count, p.vector != 0);
  }
}

}  // namespace kernel
}  // namespace dataline
