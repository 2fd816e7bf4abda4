// What the tests of loaders on a device share: a fresh fake driver each, samples of several kinds, and a consumer with a
// stream of its own. Everything goes through dataline.h, as a host's calls do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/fake_cuda/driver_api.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_cuda/on_real_driver.h"
#include "tests/support/job.h"

namespace dataline::tests {

inline Settings operator+(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Slots no larger than MixedReader's samples need: the fake writes all device memory that it gives.
inline Settings on_device(const Settings& more = {}, const std::string& device = "cuda:0") {
  return Settings{{"device", device}, {"cuda_library", FAKE_CUDA_LIBRARY}, {"max_bytes_per_sample", "128"}} +
         more;
}

inline std::vector<std::string> misuses() {
  std::vector<std::string> all;
  for (int64_t i = 0; i < fake_cuda_misuses(); ++i) all.emplace_back(fake_cuda_misuse(i));
  return all;
}

inline std::vector<std::string> left_alive() {
  std::vector<std::string> left;
  for (const char* kind : {"contexts", "streams", "events", "modules", "allocations", "registrations"}) {
    if (fake_cuda_live(kind) != 0) left.push_back(kind + (" " + std::to_string(fake_cuda_live(kind))));
  }
  return left;
}

// A driver nobody has used, that delays everything; at the end nothing was misused, no lost device was called, and
// nothing is left alive.
class DeviceLoaders : public ::testing::Test {
 protected:
  DeviceLoaders() { fresh_driver(1); }
  ~DeviceLoaders() override {
    expect_clean();
    fake_cuda_reset();
  }
  void fresh_driver(uint64_t seed) {
    fake_cuda_reset();
    fake_cuda_seed(seed);
    fake_cuda_require_pinned(1);
  }
  void expect_clean() {
    EXPECT_THAT(misuses(), ::testing::IsEmpty());
    EXPECT_LE(fake_cuda_calls_after_loss(), racing_calls_);
    if (!leaks_) {
      EXPECT_THAT(left_alive(), ::testing::IsEmpty());
    }
  }
  bool leaks_ = false;        // what a lost driver gave is not given back
  int64_t racing_calls_ = 0;  // of other threads, on their way while the driver says that it is lost
};

// What a consumer finds in a batch.
struct Content {
  dl_status status = DL_OK;
  int64_t epoch = -1, step = -1, valid = -1;
  std::vector<int64_t> indices;
  std::vector<std::string> fields;  // packed rows
  std::vector<std::vector<int64_t>> shapes, offsets;
  bool operator==(const Content&) const = default;
};
inline void PrintTo(const Content& content, std::ostream* out) {
  *out << "status " << content.status << ", epoch " << content.epoch << ", step " << content.step << ", "
       << content.indices.size() << " samples";
}

// Page-locked host memory, as a consumer's own buffers are.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t bytes)
      : bytes_(bytes), memory_(static_cast<char*>(std::aligned_alloc(4096, bytes))) {
    EXPECT_EQ(cuMemHostRegister(memory_, bytes_, 0), 0);
  }
  ~PinnedBuffer() {
    if (registered_) cuMemHostUnregister(memory_);
    std::free(memory_);
  }
  void abandon() { registered_ = false; }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  char* at(size_t offset) { return memory_ + offset; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  char* memory_;
  bool registered_ = true;
};

// Rows of a view as they lie in memory, overlapping ones counted once.
inline size_t extent(const dl_view& view) {
  if (view.bytes == 0) return 0;
  const int64_t item = dl_dtype_bytes(view.dtype);
  int64_t last = 0;
  for (int32_t d = 0; d < view.rank; ++d) last += (view.shape[d] - 1) * view.strides[d];
  return static_cast<size_t>((last + 1) * item);
}
// What a view holds, packed, from a copy of its extent.
inline std::string packed(const dl_view& view, const char* from) {
  if (view.bytes == 0) return "";
  const size_t rows = static_cast<size_t>(view.rank > 0 ? view.shape[0] : 1);
  const size_t row = static_cast<size_t>(view.bytes) / rows;
  const size_t stride = static_cast<size_t>(view.rank > 0 ? view.strides[0] * dl_dtype_bytes(view.dtype) : 0);
  std::string out;
  for (size_t r = 0; r < rows; ++r) out.append(from + r * stride, row);
  return out;
}

// Queues the reads of batches in a stream of its own, and looks at them later.
class Consumer {
 public:
  explicit Consumer(int device = 0, size_t buffer_bytes = size_t{1} << 20) : device_(device) {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, device_), 0);
    enter();
    EXPECT_EQ(cuStreamCreate(&stream_, 1), 0);
    buffer_ = std::make_unique<PinnedBuffer>(buffer_bytes);
    leave();
  }
  ~Consumer() {
    if (abandoned_) return;
    enter();
    static_cast<void>(cuStreamSynchronize(stream_));
    buffer_.reset();
    static_cast<void>(cuStreamDestroy(stream_));
    leave();
    static_cast<void>(cuDevicePrimaryCtxRelease(device_));
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  CUstream stream() const { return stream_; }
  // Calls the driver no more: it is lost.
  void abandon() {
    abandoned_ = true;
    buffer_->abandon();
  }

  // Waits for the batch in the stream and queues reads of all its fields. Releasing it at once is right.
  void queue(dl_batch* batch, bool wait = true) {
    Error error;
    if (wait) {
      ASSERT_EQ(dl_batch_wait(batch, stream_, &error), DL_OK) << error.message;
    }
    Reading reading;
    reading.content = about(batch);
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batch, &count);
    for (int32_t f = 0; f < count; ++f) {
      const dl_view& view = views[f];
      ASSERT_EQ(view.device_type, DL_DEVICE_CUDA);
      ASSERT_EQ(view.device_index, device_);
      const size_t bytes = extent(view);
      ASSERT_LE(used_ + bytes, buffer_->bytes());
      reading.views.push_back(view);
      reading.at.push_back(used_);
      if (bytes > 0) {
        enter();
        EXPECT_EQ(
            cuMemcpyDtoHAsync(buffer_->at(used_), reinterpret_cast<CUdeviceptr>(view.data) + view.byte_offset,
                              bytes, stream_),
            0);
        leave();
        used_ += (bytes + 63) / 64 * 64;
      }
    }
    // Shapes and strides are the batch's: kept while it is looked at.
    for (size_t f = 0; f < reading.views.size(); ++f) {
      const dl_view& view = reading.views[f];
      reading.shapes.emplace_back(view.shape, view.shape + view.rank);
      reading.strides.emplace_back(view.strides, view.strides + view.rank);
    }
    readings_.push_back(std::move(reading));
  }

  // What was queued, in order.
  std::vector<Content> finish() {
    enter();
    EXPECT_EQ(cuStreamSynchronize(stream_), 0);
    leave();
    std::vector<Content> all;
    for (Reading& reading : readings_) {
      for (size_t f = 0; f < reading.views.size(); ++f) {
        dl_view view = reading.views[f];
        view.shape = reading.shapes[f].data();
        view.strides = reading.strides[f].data();
        reading.content.fields.push_back(packed(view, buffer_->at(reading.at[f])));
      }
      all.push_back(std::move(reading.content));
    }
    readings_.clear();
    used_ = 0;
    return all;
  }

  // What can be told of a batch without its bytes.
  static Content about(const dl_batch* batch) {
    Content content;
    dl_batch_info info = {};
    info.struct_size = sizeof info;
    Error error;
    EXPECT_EQ(dl_batch_get_info(batch, &info, &error), DL_OK);
    content.epoch = info.epoch, content.step = info.step, content.valid = info.valid;
    content.indices.assign(info.sample_indices, info.sample_indices + info.samples);
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batch, &count);
    for (int32_t f = 0; f < count; ++f) {
      content.shapes.emplace_back(views[f].shape, views[f].shape + views[f].rank);
      std::vector<int64_t> offsets;
      if (views[f].kind == DL_KIND_RAGGED)
        offsets.assign(views[f].offsets, views[f].offsets + info.samples + 1);
      content.offsets.push_back(std::move(offsets));
    }
    return content;
  }

 private:
  struct Reading {
    Content content;
    std::vector<dl_view> views;
    std::vector<std::vector<int64_t>> shapes, strides;
    std::vector<size_t> at;
  };
  void enter() { EXPECT_EQ(cuCtxPushCurrent(context_), 0); }
  void leave() {
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent(&popped), 0);
  }

  int device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::unique_ptr<PinnedBuffer> buffer_;
  size_t used_ = 0;
  bool abandoned_ = false;
  std::vector<Reading> readings_;
};

// A batch on the cpu.
inline Content content_of(const dl_batch* batch) {
  Content content = Consumer::about(batch);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  for (int32_t f = 0; f < count; ++f) {
    EXPECT_EQ(views[f].device_type, DL_DEVICE_CPU);
    content.fields.push_back(
        packed(views[f], static_cast<const char*>(views[f].data) + views[f].byte_offset));
  }
  return content;
}

inline Batch next_batch(const Loader& loader, dl_status& status, Error& error, int64_t timeout_ns = -1) {
  dl_batch* batch = nullptr;
  status = dl_loader_next(loader.get(), timeout_ns, &batch, &error);
  return Batch(batch);
}

// All that `epochs` epochs give, errors and ends of epochs too. On a device each batch is released as soon as its reads
// are queued.
inline std::vector<Content> whole_job(const Loader& loader, Consumer* consumer) {
  std::vector<Content> all;
  const auto take_reads = [&] {
    if (consumer == nullptr) return;
    for (Content& content : consumer->finish()) all.push_back(std::move(content));
  };
  for (int queued = 0;;) {
    dl_status status = DL_OK;
    Error error;
    const Batch batch = next_batch(loader, status, error);
    if (status == DL_OK && consumer == nullptr) {
      all.push_back(content_of(batch.get()));
    } else if (status == DL_OK) {
      consumer->queue(batch.get());
      if (++queued % 8 == 0) take_reads();
    } else {
      take_reads();
      Content content;
      content.status = status;
      all.push_back(content);
      if (status == DL_END || status == DL_ERR_DEVICE_LOST) return all;
    }
  }
}

// Sample i has `pixels` u8[5x4x3], `text` ragged u8 of (i * 7) % 90 bytes and `label` i64; bytes tell which sample they
// are of. Must outlive its dataset.
struct MixedReader {
  std::function<bool(int64_t index)> fails = [](int64_t) { return false; };

  static uint8_t byte_of(int64_t index, int64_t at) {
    return static_cast<uint8_t>((index * 131 + at * 17 + (index >> 8) * 7) & 0xff);
  }
  static int64_t text_bytes(int64_t index) { return index * 7 % 90; }
  static constexpr int64_t kPixelBytes = 60;

  Dataset dataset(int64_t n) {
    const std::vector<int64_t> shape = {5, 4, 3}, any = {-1};
    dl_view pixels = field_of("pixels", DL_DTYPE_U8, shape);
    pixels.axes = "HWC";
    return reader_dataset({pixels, field_of("text", DL_DTYPE_U8, any), field_of("label", DL_DTYPE_I64)}, n,
                          &MixedReader::read, this);
  }

 private:
  static int32_t read(void* context, dl_reader_request* request) {
    auto* self = static_cast<MixedReader*>(context);
    for (int32_t i = 0; i < request->record_count; ++i) {
      const int64_t index = request->indices[i];
      const auto cell = [&](int32_t field) { return dl_reader_cell_at(request, i, field); };
      const auto fill = [&](int32_t field, int64_t bytes) {
        for (int64_t b = 0; b < bytes; ++b) static_cast<uint8_t*>(cell(field)->data)[b] = byte_of(index, b);
      };
      fill(0, kPixelBytes);
      fill(1, text_bytes(index));
      cell(1)->bytes = text_bytes(index);
      std::memcpy(cell(2)->data, &index, sizeof index);
      if (self->fails(index)) cell(0)->status = 1;
    }
    return 0;
  }
};

}  // namespace dataline::tests
