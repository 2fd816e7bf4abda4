// The hand-written pass: resize, mirror, normalise and planes at once.
// SPDX-License-Identifier: Apache-2.0
//
// Vertical first: each output line is a weighted sum of a few input lines, 16 bytes at a time. Then the taps of each output
// column are applied to two such lines, four columns at a time, and stored as normalised floats in three planes. Weights
// have 14 bits; intermediate lines are rounded to u8, as in Pillow.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/end_to_end/photo_floor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

namespace {

constexpr int kWeightBits = 14;
constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t to_u8(int32_t sum) { return static_cast<uint8_t>(std::clamp((sum + kHalf) >> kWeightBits, 0, 255)); }

}  // namespace

// `count` taps for each output position, from starts[position] on; the weights of a position are contiguous.
struct FusedPass::Taps {
  const int32_t* starts = nullptr;
  const int16_t* weights = nullptr;
  int32_t count = 0;
};

FusedPass::FusedPass() = default;

// A triangle of half width max(1, in / out) around the centre of the output position, with weights that sum to one. `count` is
// rounded up to `multiple`; weights past the end of the picture are zero.
void FusedPass::fill_taps(int32_t in, int32_t out, bool mirrored, int32_t multiple, Taps* taps) {
  const int which = multiple == 2 ? 0 : 1;
  const double scale = static_cast<double>(in) / out;
  const double support = std::max(1.0, scale);
  // A window of 2 * support with rounded ends has at most this many positions.
  const int32_t most = std::min(in, static_cast<int32_t>(std::floor(2 * support)) + 1);
  const int32_t count = (most + multiple - 1) / multiple * multiple;
  std::vector<int16_t>& weights = weights_[which];
  std::vector<int32_t>& starts = starts_[which];
  weights.assign(static_cast<size_t>(out * count), 0);
  starts.resize(static_cast<size_t>(out));
  double exact[1024];
  for (int32_t place = 0; place < out; ++place) {
    const double centre = (place + 0.5) * scale;
    const auto first = std::max(0, static_cast<int32_t>(centre - support + 0.5));
    const auto end = std::min({in, static_cast<int32_t>(centre + support + 0.5), first + most});
    double sum = 0;
    for (int32_t k = first; k < end; ++k) {
      sum += exact[k - first] = std::max(0.0, 1 - std::fabs((k + 0.5 - centre) / support));
    }
    const int32_t target = mirrored ? out - 1 - place : place;
    int16_t* to = weights.data() + target * count;
    int32_t rest = 1 << kWeightBits;
    int32_t largest = 0;
    for (int32_t k = 0; k < end - first; ++k) {
      to[k] = static_cast<int16_t>(std::lround(exact[k] / sum * (1 << kWeightBits)));
      rest -= to[k];
      if (to[k] > to[largest]) largest = k;
    }
    to[largest] = static_cast<int16_t>(to[largest] + rest);
    starts[static_cast<size_t>(target)] = first;
  }
  *taps = {starts.data(), weights.data(), count};
}

namespace {

struct Affine {
  float scale[3], bias[3];
};

const Affine& imagenet() {
  static const Affine kAffine = [] {
    Affine made{};
    for (int c = 0; c < 3; ++c) {
      made.scale[c] = 1 / (255 * kImagenetDeviation[c]);
      made.bias[c] = -kImagenetMean[c] / kImagenetDeviation[c];
    }
    return made;
  }();
  return kAffine;
}

// out[0, bytes) = the weighted sum of `count` lines from `lines` on.
void sum_lines_plain(const uint8_t* lines, int64_t stride, const int16_t* weights, int32_t count,
                     int32_t most, int64_t begin, int64_t bytes, uint8_t* out) {
  for (int64_t i = begin; i < bytes; ++i) {
    int32_t sum = 0;
    for (int32_t k = 0; k < std::min(count, most); ++k) sum += lines[k * stride + i] * weights[k];
    out[i] = to_u8(sum);
  }
}

// One output column of one line.
void sum_taps_plain(const uint8_t* line, const int16_t* weights, int32_t count, int32_t most,
                    uint8_t rgb[3]) {
  for (int c = 0; c < 3; ++c) {
    int32_t sum = 0;
    for (int32_t k = 0; k < std::min(count, most); ++k) sum += line[k * 3 + c] * weights[k];
    rgb[c] = to_u8(sum);
  }
}

#if defined(__x86_64__)

// Lines past the last have weight zero; the last one is read instead.
__attribute__((target("avx2"))) void sum_lines_avx2(const uint8_t* lines, int64_t stride,
                                                    const int16_t* weights, int32_t count, int32_t most,
                                                    int64_t bytes, uint8_t* out) {
  const __m256i half = _mm256_set1_epi32(kHalf);
  for (int64_t i = 0; i < bytes; i += 16) {
    __m256i low = half, high = half;
    for (int32_t k = 0; k < count; k += 2) {
      const uint8_t* first = lines + std::min(k, most - 1) * stride + i;
      const uint8_t* second = lines + std::min(k + 1, most - 1) * stride + i;
      int32_t both;
      std::memcpy(&both, weights + k, sizeof both);
      const __m256i weight = _mm256_set1_epi32(both);
      const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
      const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second));
      low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), weight));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), weight));
    }
    low = _mm256_srai_epi32(low, kWeightBits);
    high = _mm256_srai_epi32(high, kWeightBits);
    // packs works within 128-bit halves: 0-3 8-11 | 4-7 12-15.
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
}

// One output column of two lines: R G B in 32 bits, the first line in the low half.
__attribute__((target("avx2"), always_inline)) inline __m256i column_of(const uint8_t* first,
                                                                        const uint8_t* second,
                                                                        const int16_t* weights,
                                                                        int32_t count) {
  // R0 R1 G0 G1 B0 B1 of two neighbours as 16 bits each.
  const __m256i near =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  const __m256i far =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
  __m256i sum = _mm256_set1_epi32(kHalf);
  for (int32_t k = 0; k < count; k += 4) {
    const __m256i pixels = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first + k * 3))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(second + k * 3)), 1);
    int32_t low, high;
    std::memcpy(&low, weights + k, sizeof low);
    std::memcpy(&high, weights + k + 2, sizeof high);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, near), _mm256_set1_epi32(low)));
    if (high != 0) {
      sum =
          _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, far), _mm256_set1_epi32(high)));
    }
  }
  return _mm256_srai_epi32(sum, kWeightBits);
}

// Four columns of two lines, in the layout of each of the three planes: the second line after the first.
__attribute__((target("avx2,fma"), always_inline)) inline void store_columns(const __m256i columns[4],
                                                                             const Affine& affine,
                                                                             float* to) {
  const __m256i rg01 = _mm256_unpacklo_epi32(columns[0], columns[1]);
  const __m256i rg23 = _mm256_unpacklo_epi32(columns[2], columns[3]);
  const __m256i b01 = _mm256_unpackhi_epi32(columns[0], columns[1]);
  const __m256i b23 = _mm256_unpackhi_epi32(columns[2], columns[3]);
  const __m256i planes[3] = {_mm256_unpacklo_epi64(rg01, rg23), _mm256_unpackhi_epi64(rg01, rg23),
                             _mm256_unpacklo_epi64(b01, b23)};
  for (int c = 0; c < 3; ++c) {
    const __m256 values = _mm256_fmadd_ps(_mm256_cvtepi32_ps(planes[c]), _mm256_set1_ps(affine.scale[c]),
                                          _mm256_set1_ps(affine.bias[c]));
    _mm_store_ps(to + c * 2 * kPhotoSide, _mm256_castps256_ps128(values));
    _mm_store_ps(to + (c * 2 + 1) * kPhotoSide, _mm256_extractf128_ps(values, 1));
  }
}

__attribute__((target("avx2,fma"))) void two_lines_avx2(const uint8_t* first, const uint8_t* second,
                                                        const int32_t* starts, const int16_t* weights,
                                                        int32_t count, const Affine& affine, float* to) {
  alignas(64) float done[3 * 2 * kPhotoSide];
  for (int32_t x = 0; x < kPhotoSide; x += 4) {
    __m256i columns[4];
    for (int32_t i = 0; i < 4; ++i) {
      const int64_t start = int64_t{starts[x + i]} * 3;
      columns[i] = column_of(first + start, second + start, weights + (x + i) * count, count);
    }
    store_columns(columns, affine, done + x);
  }
  // Non-temporal stores of whole cache lines: the data is not read soon.
  for (int c = 0; c < 3; ++c) {
    for (int32_t i = 0; i < 2 * kPhotoSide; i += 8) {
      _mm256_stream_ps(to + c * kPhotoSide * kPhotoSide + i, _mm256_load_ps(done + c * 2 * kPhotoSide + i));
    }
  }
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

#else

bool has_avx2() { return false; }

#endif

}  // namespace

void FusedPass::run(const PhotoPixels& pixels, bool flip, float* planes) {
  Taps down, across;
  fill_taps(pixels.height, kPhotoSide, false, 2, &down);
  fill_taps(pixels.width, kPhotoSide, flip, 4, &across);
  const int64_t bytes = int64_t{pixels.width} * 3;
  const int64_t room = bytes + int64_t{across.count} * 3 + 64;
  lines_.resize(static_cast<size_t>(2 * room));
  const bool fast = has_avx2();
  for (int32_t y = 0; y < kPhotoSide; y += 2) {
    for (int32_t i = 0; i < 2; ++i) {
      const int32_t start = down.starts[y + i];
      const uint8_t* from = pixels.data + start * pixels.stride;
      const int16_t* weights = down.weights + (y + i) * down.count;
      uint8_t* to = lines_.data() + i * room;
#if defined(__x86_64__)
      if (fast) {
        sum_lines_avx2(from, pixels.stride, weights, down.count, pixels.height - start, bytes, to);
        continue;
      }
#endif
      sum_lines_plain(from, pixels.stride, weights, down.count, pixels.height - start, 0, bytes, to);
    }
    float* to = planes + y * kPhotoSide;
#if defined(__x86_64__)
    if (fast) {
      two_lines_avx2(lines_.data(), lines_.data() + room, across.starts, across.weights, across.count,
                     imagenet(), to);
      continue;
    }
#endif
    for (int32_t i = 0; i < 2; ++i) {
      for (int32_t x = 0; x < kPhotoSide; ++x) {
        uint8_t rgb[3];
        sum_taps_plain(lines_.data() + i * room + across.starts[x] * 3, across.weights + x * across.count,
                       across.count, pixels.width - across.starts[x], rgb);
        for (int c = 0; c < 3; ++c) {
          to[c * kPhotoSide * kPhotoSide + i * kPhotoSide + x] =
              static_cast<float>(rgb[c]) * imagenet().scale[c] + imagenet().bias[c];
        }
      }
    }
  }
}

void FusedPass::run_u8(const PhotoPixels& pixels, int32_t side, uint8_t* out) {
  Taps down, across;
  fill_taps(pixels.height, side, false, 2, &down);
  fill_taps(pixels.width, side, false, 4, &across);
  const int64_t bytes = int64_t{pixels.width} * 3;
  lines_.resize(static_cast<size_t>(bytes));
  for (int32_t y = 0; y < side; ++y) {
    const int32_t start = down.starts[y];
    sum_lines_plain(pixels.data + start * pixels.stride, pixels.stride, down.weights + y * down.count,
                    down.count, pixels.height - start, 0, bytes, lines_.data());
    for (int32_t x = 0; x < side; ++x) {
      sum_taps_plain(lines_.data() + across.starts[x] * 3, across.weights + x * across.count, across.count,
                     pixels.width - across.starts[x], out + (int64_t{y} * side + x) * 3);
    }
  }
}

}  // namespace bench
