// The resampler on every vector target beside its plain twin, bit for bit, on random views; golden digests, so that no
// platform changes a byte; what flat, tiny and flipped images must give.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/simd.h"
#include "tests/transform/resample/memory_lines.h"
#include "tests/transform/support/resampler_twin.h"

namespace dataline::resampler_test {
namespace {

using test::Image;
using test::seen;
using test::whole;
using tests::make_plain_resampler;

constexpr Filter kFilters[] = {Filter::kNearest, Filter::kBilinear, Filter::kBicubic, Filter::kArea,
                               Filter::kLanczos};

std::vector<SimdTarget> targets() {
  std::vector<SimdTarget> all{SimdTarget::kPlain};
  const SimdTarget best = best_simd_target();
  if (best == SimdTarget::kNeon) all.push_back(best);
  for (const SimdTarget each : {SimdTarget::kSse4, SimdTarget::kAvx2, SimdTarget::kAvx3})
    if (best != SimdTarget::kNeon && each <= best) all.push_back(each);
  return all;
}

Image noise(int64_t height, int64_t width, int64_t channels, uint64_t seed, int64_t element_bytes = 1) {
  Image image(height, width, channels, element_bytes);
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    const uint64_t bits = random_bits(seed, i);
    // Half of them extreme, so that overshoots are met.
    image.pixels[i] = static_cast<std::byte>((bits & 3) == 0 ? 255 : (bits & 3) == 1 ? 0 : bits >> 8);
  }
  return image;
}

class RandomView {
 public:
  explicit RandomView(uint64_t seed) : random_(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_below(random_(), static_cast<uint64_t>(high - low + 1)));
  }
  int64_t side() { return between(0, 3) == 0 ? between(1, 9) : between(1, 150); }

  View of(const Image& image) {
    View view = whole(image, 1, 1, kFilters[between(0, 4)], between(0, 3) != 0);
    view.height = between(1, image.height);
    view.width = between(1, image.width);
    view.top = between(0, image.height - view.height);
    view.left = between(0, image.width - view.width);
    const int64_t kind = between(0, 5);  // 0: nothing is scaled; 1, 2: one axis only
    view.scaled_height = kind <= 1 ? view.height : side();
    view.scaled_width = kind == 0 || kind == 2 ? view.width : side();
    view.out_height = between(1, view.scaled_height);
    view.out_width = between(1, view.scaled_width);
    view.window_top = between(0, view.scaled_height - view.out_height);
    view.window_left = between(0, view.scaled_width - view.out_width);
    view.flip_x = between(0, 1) != 0;
    view.flip_y = between(0, 1) != 0;
    return view;
  }

 private:
  std::mt19937_64 random_;
};

std::string text_of(const View& view, const Image& image) {
  std::string out = "filter " + std::to_string(static_cast<int>(view.filter));
  for (const int64_t each :
       {int64_t{view.antialias}, image.channels, image.element_bytes, view.top, view.left, view.height,
        view.width, view.scaled_height, view.scaled_width, view.window_top, view.window_left, view.out_height,
        view.out_width, int64_t{view.flip_x}, int64_t{view.flip_y}})
    out += " " + std::to_string(each);
  return out;
}

TEST(Resampler, EveryTargetGivesTheTwinsBytesOnRandomViews) {
  const auto twin = make_plain_resampler();
  std::vector<std::pair<SimdTarget, std::unique_ptr<Resampler>>> resamplers;
  for (const SimdTarget target : targets()) resamplers.emplace_back(target, make_resampler(target));
  RandomView random(2);
  for (int i = 0; i < 500; ++i) {
    const int64_t channels[] = {1, 3, 4};
    const Image image = noise(random.side(), random.side(), channels[i % 3], static_cast<uint64_t>(i));
    const View view = random.of(image);
    const Image expected = seen(*twin, view, image);
    for (const auto& [target, resampler] : resamplers) {
      const char* wrong = nullptr;
      const Image ours = seen(*resampler, view, image, &wrong);
      ASSERT_EQ(wrong, nullptr) << wrong << ": " << simd_target_name(target) << " " << text_of(view, image);
      ASSERT_EQ(ours, expected) << simd_target_name(target) << " " << text_of(view, image);
    }
  }
}

TEST(Resampler, ManyTapsGiveTheTwinsBytes) {
  const auto twin = make_plain_resampler();
  const Image image = noise(320, 310, 3, 5);
  for (const Filter filter : kFilters)
    for (const int64_t out : {1, 2, 7, 23, 40}) {  // 320 down to these: up to 1,920 taps
      const View view = whole(image, out, out + 1, filter);
      const Image expected = seen(*twin, view, image);
      for (const SimdTarget target : targets())
        EXPECT_EQ(seen(*make_resampler(target), view, image), expected)
            << simd_target_name(target) << " " << text_of(view, image);
    }
}

TEST(Resampler, LinesOfAnyElementAreCopiedAndFlippedWhereNothingIsScaled) {
  const auto twin = make_plain_resampler();
  for (const SimdTarget target : targets()) {
    RandomView random(3);
    for (int i = 0; i < 100; ++i) {
      const int64_t channels[] = {1, 3, 4};
      const Image image = noise(random.side(), random.side(), channels[i % 3], 9, 1 + i % 2);
      View view = random.of(image);
      view.scaled_height = view.height;
      view.scaled_width = view.width;
      view.out_height = random.between(1, view.height);
      view.out_width = random.between(1, view.width);
      view.window_top = random.between(0, view.height - view.out_height);
      view.window_left = random.between(0, view.width - view.out_width);
      const Image ours = seen(*make_resampler(target), view, image);
      ASSERT_EQ(ours, seen(*twin, view, image)) << text_of(view, image);
      ASSERT_EQ(std::memcmp(ours.at(0, 0),
                            image.at(view.top + view.window_top + (view.flip_y ? view.out_height - 1 : 0),
                                     view.left + view.window_left + (view.flip_x ? view.out_width - 1 : 0)),
                            static_cast<size_t>(image.channels * image.element_bytes)),
                0);
    }
  }
}

TEST(Resampler, FlatImagesStayFlat) {
  const auto resampler = make_resampler(best_simd_target());
  for (const Filter filter : kFilters)
    for (const bool antialias : {false, true})
      for (const int level : {0, 1, 128, 254, 255})
        for (const auto& [in, out] :
             {std::pair<int64_t, int64_t>{500, 7}, {97, 64}, {64, 97}, {1, 9}, {3, 2}, {300, 299}}) {
          Image image(in, in + 3, 3);
          std::fill(image.pixels.begin(), image.pixels.end(), static_cast<std::byte>(level));
          Image expected(out, out, 3);
          std::fill(expected.pixels.begin(), expected.pixels.end(), static_cast<std::byte>(level));
          EXPECT_EQ(seen(*resampler, whole(image, out, out, filter, antialias), image), expected)
              << static_cast<int>(filter) << " " << level << ": " << in << " to " << out;
        }
}

Image mirrored(const Image& image) {
  Image out = image;
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x)
      std::memcpy(const_cast<std::byte*>(out.at(y, x)), image.at(y, image.width - 1 - x),
                  static_cast<size_t>(image.channels));
  return out;
}

TEST(Resampler, FiltersThatJoinAfterAFlipMirror) {
  const auto resampler = make_resampler(best_simd_target());
  RandomView random(8);
  for (int i = 0; i < 200; ++i) {
    const Image image = noise(random.side(), random.side(), 3, static_cast<uint64_t>(i));
    const Filter filter = kFilters[random.between(0, 4)];
    View view = whole(image, random.side(), random.side(), filter, i % 2 != 0);
    ViewStep flip, resize;
    flip.kind = ViewStep::Kind::kFlipX;
    resize.filter = filter;
    if (!joins({flip}, resize)) continue;
    const Image flipped_first = seen(*resampler, view, mirrored(image));
    view.flip_x = true;
    ASSERT_EQ(seen(*resampler, view, image), flipped_first) << text_of(view, image);
  }
}

TEST(Resampler, WindowIsThatPartOfTheWhole) {
  const auto resampler = make_resampler(best_simd_target());
  RandomView random(4);
  for (int i = 0; i < 200; ++i) {
    const Image image = noise(random.side(), random.side(), 3, static_cast<uint64_t>(i));
    View view = random.of(image);
    view.flip_x = view.flip_y = false;
    const Image part = seen(*resampler, view, image);
    View all = view;
    all.window_top = all.window_left = 0;
    all.out_height = view.scaled_height;
    all.out_width = view.scaled_width;
    const Image complete = seen(*resampler, all, image);
    for (int64_t y = 0; y < view.out_height; ++y)
      ASSERT_EQ(std::memcmp(part.at(y, 0), complete.at(view.window_top + y, view.window_left),
                            static_cast<size_t>(part.line_bytes())),
                0)
          << text_of(view, image);
  }
}

TEST(Resampler, TooLittleScratchIsAnErrorThatNamesTheOption) {
  const auto resampler = make_resampler(best_simd_target());
  const Image image = noise(100, 120, 3, 1);
  const View view = whole(image, 50, 60, Filter::kBilinear);
  alignas(64) std::byte memory[256];
  FrameScratch scratch(memory, sizeof memory);
  Image out(50, 60, 3);
  test::MemoryLines source(image, resampler->need(view));
  test::MemorySink sink(out);
  const Status status = resampler->run(view, 3, 1, source, sink, scratch);
  EXPECT_EQ(status.code(), Code::kTooLarge);
  EXPECT_NE(status.message().find("max_decoded_bytes"), std::string::npos) << status.message();
}

// Of all scales of one filter; the same on every machine.
std::string digest_of(Filter filter, bool antialias) {
  const auto resampler = make_resampler(best_simd_target());
  Digest digest;
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{97, 64}, {64, 97}, {300, 11}, {11, 120}, {1, 5}, {5, 1}, {400, 3}}) {
    const Image image = noise(in, in * 3 / 2 + 1, 3, 77);
    const Image result = seen(*resampler, whole(image, out, out + 2, filter, antialias), image);
    EXPECT_FALSE(result.pixels.empty());
    digest.add(Bytes(result.pixels.data(), result.pixels.size()));
  }
  return digest.hex();
}

TEST(Resampler, GoldenDigestOfEachFilter) {
  EXPECT_EQ(digest_of(Filter::kNearest, true), "14dc6caae5335539");
  EXPECT_EQ(digest_of(Filter::kBilinear, true), "94f968672302e3d7");
  EXPECT_EQ(digest_of(Filter::kBilinear, false), "53c78664aa597bd2");
  EXPECT_EQ(digest_of(Filter::kBicubic, true), "48c7c65b4bac98bb");
  EXPECT_EQ(digest_of(Filter::kBicubic, false), "f4199dff87474de9");
  EXPECT_EQ(digest_of(Filter::kArea, true), "79d746fca7a01538");
  EXPECT_EQ(digest_of(Filter::kLanczos, true), "1d32ae6641b809bd");
}

}  // namespace
}  // namespace dataline::resampler_test
