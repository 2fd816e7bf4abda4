// The limits that rows are compared with: loops that only copy, everything else is precomputed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/measure.h"
#include "bindings/cli/gather_loops.h"

namespace bench {

// Memory like a loader's arena: advised to use 2 MiB pages, prefaulted.
class HugeBuffer {
 public:
  explicit HugeBuffer(int64_t bytes);
  ~HugeBuffer();
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

struct GatherWork {
  const std::byte* base = nullptr;  // row i begins at base + i * stride_bytes
  int64_t stride_bytes = 0;
  int64_t row_bytes = 0;
  std::vector<uint32_t> order;
  int64_t batch_size = 0;
  int64_t slot_count = 0;  // reused in a ring, as a loader's slots are
};

// Rows copied in the given order into slots, by `threads` threads that each take every threads-th batch.
class BareGather {
 public:
  // Tries each known loop (prefetch distance and level, width of the copy) and keeps the fastest.
  BareGather(GatherWork work, int threads);
  Throughput run(double seconds) const;
  // "loop 7 of 10": its place in dataline::cli::gather_loops().
  const std::string& loop_name() const { return loop_name_; }

 private:
  Throughput run_thread(int thread, int64_t deadline_ns) const;

  GatherWork work_;
  int threads_ = 1;
  int64_t batches_ = 0;
  std::vector<std::unique_ptr<HugeBuffer>> slots_;  // one set per thread
  dataline::cli::GatherLoop loop_ = nullptr;
  std::string loop_name_;
};

// glibc memcpy, one thread, in file order, in pieces of a slot into the same number of slots.
Throughput bare_memcpy(const std::byte* from, int64_t bytes, int64_t slot_bytes, int64_t slot_count,
                       double seconds);

// Rows of u8 gathered and normalised to f32 (x * a + b) in one pass, one thread.
class BareNormalize {
 public:
  BareNormalize(GatherWork work, float scale, float bias);
  Throughput run(double seconds) const;

 private:
  GatherWork work_;
  float scale_;
  float bias_;
  HugeBuffer slots_;
};

// A shuffled order of [0, count), for work that does not take its order from a loader.
std::vector<uint32_t> shuffled_order(int64_t count);

}  // namespace bench
