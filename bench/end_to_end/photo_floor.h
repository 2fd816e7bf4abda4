// The floor of the photograph rows: libjpeg-turbo decodes the drawn rectangle, then one hand-written pass over its pixels.
// SPDX-License-Identifier: Apache-2.0
//
// A limit, not a loader: files are in memory, rectangles and flips are drawn beforehand, threads never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/measure.h"

namespace bench {

constexpr int32_t kPhotoSide = 224;
constexpr int64_t kPhotoBatch = 32;
constexpr int64_t kPhotoValues = int64_t{3} * kPhotoSide * kPhotoSide;
// normalize(imagenet): (x / 255 - mean) / deviation.
constexpr float kImagenetMean[3] = {0.485f, 0.456f, 0.406f};
constexpr float kImagenetDeviation[3] = {0.229f, 0.224f, 0.225f};

// A rectangle of the stored picture, and whether it is mirrored afterwards.
struct PhotoCrop {
  int32_t x = 0, y = 0, width = 0, height = 0;
  bool flip = false;
};

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)) and RandomHorizontalFlip(0.5).
PhotoCrop draw_crop(int32_t width, int32_t height, uint64_t* random);

// Pixels of a rectangle: u8 RGB, rows of `stride` bytes.
struct PhotoPixels {
  const uint8_t* data = nullptr;
  int64_t stride = 0;
  int32_t width = 0, height = 0;
};

// Bilinear with antialiasing as in torchvision and Pillow (a triangle as wide as the scale), optionally mirrored, to u8 and
// then normalised to f32 planes of kPhotoSide x kPhotoSide: both directions, flip, cast and layout in one pass without an
// intermediate image. AVX2 if available, else plain.
class FusedPass {
 public:
  FusedPass();
  // `pixels` may be read up to 32 bytes past each row's end; `planes` is 32-byte aligned.
  void run(const PhotoPixels& pixels, bool flip, float* planes);
  // The same to interleaved u8 of any size, not normalised: makes the raw images.
  void run_u8(const PhotoPixels& pixels, int32_t side, uint8_t* out);

 private:
  struct Taps;
  void fill_taps(int32_t in, int32_t out, bool mirrored, int32_t multiple, Taps* taps);
  std::vector<int16_t> weights_[2];
  std::vector<int32_t> starts_[2];
  std::vector<uint8_t> lines_;
};

// Decodes rectangles of JPEGs. One per thread.
class CropDecoder {
 public:
  CropDecoder();
  ~CropDecoder();
  CropDecoder(const CropDecoder&) = delete;
  CropDecoder& operator=(const CropDecoder&) = delete;
  // Valid until the next call. A width of 0 is the whole picture.
  PhotoPixels decode(const std::vector<uint8_t>& file, const PhotoCrop& crop);
  static void size_of(const std::vector<uint8_t>& file, int32_t* width, int32_t* height);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Photo {
  std::vector<uint8_t> file;
  int64_t label = 0;
  int32_t width = 0, height = 0;
};

// Statistics that must agree between batches of crops of the same files, whatever was drawn.
class PhotoStatistics {
 public:
  void add(const float* planes);
  int64_t count() const { return count_; }
  double mean(int channel) const;
  double deviation(int channel) const;

 private:
  double sum_[3] = {}, squares_[3] = {};
  int64_t count_ = 0;
};

// `threads` threads that each take the next photograph, into a ring of batches.
class BarePhotos {
 public:
  // `photos` are repeated `repeats` times an epoch, in one shuffled order.
  BarePhotos(std::shared_ptr<const std::vector<Photo>> photos, int64_t repeats, int threads);
  Throughput run(double seconds) const;
  // Whole epochs, so that each measurement covers the same files.
  Throughput run_epochs(int64_t epochs) const;
  // Per epoch.
  void statistics(PhotoStatistics* out) const;

 private:
  Throughput run_threads(int64_t deadline_ns, int64_t samples) const;
  void fill(int64_t sample, CropDecoder& decoder, FusedPass& pass, float* planes) const;

  std::shared_ptr<const std::vector<Photo>> photos_;
  int threads_ = 1;
  std::vector<uint32_t> order_;
  std::vector<PhotoCrop> crops_;  // for each position in the order
  HugeBuffer ring_;
};

}  // namespace bench
