// The floor of the photograph rows.
// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/photo_floor.h"

#include <cstdio>
// jpeglib.h needs stdio's FILE.
#include <jpeglib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

namespace bench {

namespace {

constexpr int64_t kRing = 4 * kPhotoBatch;
constexpr int64_t kReadPast = 64;

double unit(uint64_t* random) {  // SplitMix64, 53 bits
  uint64_t z = (*random += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

PhotoCrop draw_crop(int32_t width, int32_t height, uint64_t* random) {
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * (0.08 + 0.92 * unit(random));
    const double ratio = std::exp(std::log(3.0 / 4) + (std::log(4.0 / 3) - std::log(3.0 / 4)) * unit(random));
    const auto w = static_cast<int32_t>(std::lround(std::sqrt(target * ratio)));
    const auto h = static_cast<int32_t>(std::lround(std::sqrt(target / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const auto y = static_cast<int32_t>(unit(random) * (height - h + 1));
    const auto x = static_cast<int32_t>(unit(random) * (width - w + 1));
    return {x, y, w, h, unit(random) < 0.5};
  }
  const double ratio = static_cast<double>(width) / height;
  const int32_t w = ratio > 4.0 / 3 ? static_cast<int32_t>(std::lround(height * 4.0 / 3)) : width;
  const int32_t h = ratio < 3.0 / 4 ? static_cast<int32_t>(std::lround(width * 4.0 / 3)) : height;
  return {(width - w) / 2, (height - h) / 2, w, h, unit(random) < 0.5};
}

// ---- Decoding ----

struct CropDecoder::State {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::vector<uint8_t> lines;
};

namespace {

[[noreturn]] void refuse(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  (*jpeg->err->format_message)(jpeg, text);
  fail(std::string("libjpeg: ") + text);
}

void ignore(j_common_ptr) {}

}  // namespace

CropDecoder::CropDecoder() : state_(std::make_unique<State>()) {
  state_->jpeg.err = jpeg_std_error(&state_->errors);
  state_->errors.error_exit = refuse;
  state_->errors.output_message = ignore;
  jpeg_create_decompress(&state_->jpeg);
}

CropDecoder::~CropDecoder() { jpeg_destroy_decompress(&state_->jpeg); }

PhotoPixels CropDecoder::decode(const std::vector<uint8_t>& file, const PhotoCrop& crop) {
  jpeg_decompress_struct* jpeg = &state_->jpeg;
  jpeg_mem_src(jpeg, file.data(), file.size());
  jpeg_read_header(jpeg, TRUE);
  jpeg->out_color_space = JCS_RGB;
  jpeg_start_decompress(jpeg);
  const bool whole = crop.width == 0;
  JDIMENSION left = whole ? 0 : static_cast<JDIMENSION>(crop.x);
  JDIMENSION width = whole ? jpeg->output_width : static_cast<JDIMENSION>(crop.width);
  const JDIMENSION wanted_left = left;
  const JDIMENSION wanted_width = width;
  const auto height = whole ? static_cast<int32_t>(jpeg->output_height) : crop.height;
  if (width < jpeg->output_width) jpeg_crop_scanline(jpeg, &left, &width);  // to the left edge of a block
  if (!whole && crop.y > 0) jpeg_skip_scanlines(jpeg, static_cast<JDIMENSION>(crop.y));
  const int64_t stride = int64_t{width} * 3;
  state_->lines.resize(static_cast<size_t>(stride * height + kReadPast));
  for (int32_t y = 0; y < height;) {
    JSAMPROW rows[8];
    const int32_t count = std::min<int32_t>(8, height - y);
    for (int32_t i = 0; i < count; ++i) rows[i] = state_->lines.data() + (y + i) * stride;
    y += static_cast<int32_t>(jpeg_read_scanlines(jpeg, rows, static_cast<JDIMENSION>(count)));
  }
  jpeg_abort_decompress(jpeg);  // the lines below are not needed
  return {state_->lines.data() + int64_t{wanted_left - left} * 3, stride, static_cast<int32_t>(wanted_width),
          height};
}

void CropDecoder::size_of(const std::vector<uint8_t>& file, int32_t* width, int32_t* height) {
  CropDecoder decoder;
  jpeg_mem_src(&decoder.state_->jpeg, file.data(), file.size());
  jpeg_read_header(&decoder.state_->jpeg, TRUE);
  *width = static_cast<int32_t>(decoder.state_->jpeg.image_width);
  *height = static_cast<int32_t>(decoder.state_->jpeg.image_height);
  jpeg_abort_decompress(&decoder.state_->jpeg);
}

// ---- Many of them ----

BarePhotos::BarePhotos(std::shared_ptr<const std::vector<Photo>> photos, int64_t repeats, int threads)
    : photos_(std::move(photos)), threads_(threads), ring_(kRing * kPhotoValues * 4) {
  const auto count = static_cast<int64_t>(photos_->size());
  order_ = shuffled_order(count * repeats);
  uint64_t random = 1;
  for (uint32_t& place : order_) {
    place %= static_cast<uint32_t>(count);
    const Photo& photo = (*photos_)[place];
    crops_.push_back(draw_crop(photo.width, photo.height, &random));
  }
}

void BarePhotos::fill(int64_t sample, CropDecoder& decoder, FusedPass& pass, float* planes) const {
  const size_t place = static_cast<size_t>(sample) % order_.size();
  const PhotoCrop& crop = crops_[place];
  pass.run(decoder.decode((*photos_)[order_[place]].file, crop), crop.flip, planes);
}

Throughput BarePhotos::run_threads(int64_t deadline_ns, int64_t samples) const {
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> filled{0};
  auto work = [&] {
    CropDecoder decoder;
    FusedPass pass;
    auto* ring = reinterpret_cast<float*>(ring_.data());
    while (now_ns() < deadline_ns) {
      const int64_t sample = next.fetch_add(1);
      if (sample >= samples) break;
      fill(sample, decoder, pass, ring + sample % kRing * kPhotoValues);
      filled.fetch_add(1);
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads_; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  Throughput done;
  done.rows = filled;
  done.batches = std::max<int64_t>(1, done.rows / kPhotoBatch);
  done.bytes = done.rows * kPhotoValues * 4;
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

Throughput BarePhotos::run(double seconds) const {
  return run_threads(now_ns() + static_cast<int64_t>(seconds * 1e9), INT64_MAX);
}

Throughput BarePhotos::run_epochs(int64_t epochs) const {
  return run_threads(INT64_MAX, epochs * static_cast<int64_t>(order_.size()));
}

void BarePhotos::statistics(PhotoStatistics* out) const {
  CropDecoder decoder;
  FusedPass pass;
  const HugeBuffer room(kPhotoValues * 4);
  auto* planes = reinterpret_cast<float*>(room.data());
  for (size_t sample = 0; sample < order_.size(); ++sample) {
    fill(static_cast<int64_t>(sample), decoder, pass, planes);
    out->add(planes);
  }
}

void PhotoStatistics::add(const float* planes) {
  for (int c = 0; c < 3; ++c) {
    const float* plane = planes + c * kPhotoSide * kPhotoSide;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kPhotoSide * kPhotoSide; ++i) {
      const auto value = static_cast<double>(plane[i]);
      sum += value;
      squares += value * value;
    }
    sum_[c] += sum;
    squares_[c] += squares;
  }
  ++count_;
}

double PhotoStatistics::mean(int channel) const {
  return sum_[channel] / static_cast<double>(count_ * kPhotoSide * kPhotoSide);
}

double PhotoStatistics::deviation(int channel) const {
  const double values = static_cast<double>(count_ * kPhotoSide * kPhotoSide);
  return std::sqrt(squares_[channel] / values - mean(channel) * mean(channel));
}

}  // namespace bench
