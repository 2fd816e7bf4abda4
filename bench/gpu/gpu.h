// The rows of dataline_gpu. Each measures about settings.seconds per figure and states what its rates are compared with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/end_to_end/job.h"
#include "bench/end_to_end/measure.h"
#include "bench/gpu/cuda.h"
#include "core/base/status.h"

namespace bench {

struct GpuSettings {
  std::string data_dir;
  std::string cuda_library;
  double seconds = 0.5;
  bool small = false;  // to check that it runs, on the fake driver, whose rates mean nothing

  int64_t row_bytes() const { return small ? 256 : int64_t{64} << 10; }
  int64_t mib() const { return small ? 4096 : int64_t{1} << 20; }  // the "MiB" of a row
};

// The sizes of batches that are measured, and their names: 256 KiB, 1 MiB, 4 MiB, 16 MiB and 64 MiB.
struct BatchSize {
  const char* name;
  int64_t kib;
  int64_t bytes(const GpuSettings& settings) const { return kib * settings.mib() / 1024; }
};
inline constexpr BatchSize kBatchSizes[] = {
    {"256 KiB", 256}, {"1 MiB", 1024}, {"4 MiB", 4096}, {"16 MiB", 16384}, {"64 MiB", 65536}};

// Repeats `one` until the time is up, at least `min_count` times, then `finish` waits for the device. Returns seconds per
// repetition.
template <typename One, typename Finish>
double seconds_each(double seconds, int64_t min_count, One one, Finish finish) {
  finish();
  int64_t count = 0, block = 1;
  const int64_t begin = now_ns();
  int64_t elapsed = 0;
  while (count < min_count || static_cast<double>(elapsed) < seconds * 1e9) {
    for (int64_t i = 0; i < block; ++i) one(count + i);
    count += block;
    // Waits rarely, because a wait adds a gap of some microseconds to the measurement.
    if (count >= block * 8) block *= 2;
    finish();
    elapsed = now_ns() - begin;
  }
  return static_cast<double>(elapsed) * 1e-9 / static_cast<double>(count);
}

// What the device room gave; ends the program where it failed.
template <typename T>
T taken(dataline::Result<T> result) {
  if (!result.is_ok()) fail(std::string(result.status().message()));
  return result.take();
}

// A loader over rows of random bytes on the device, or with `host` on none.
std::unique_ptr<Job> rows_job(const GpuSettings& settings, int64_t rows, int64_t batch_bytes,
                              OptionList options = {}, bool host = false);
// Its consumer: takes a batch in `stream`, and gives it back there after `work(views)` was queued.
template <typename Work>
int64_t use_batch(Job& job, void* stream, Work work) {
  dl_error error = DL_ERROR_INIT;
  dl_batch* batch = job.next();
  if (dl_batch_wait(batch, stream, &error) != DL_OK) fail(error.message);
  const int64_t bytes = batch_bytes(batch);
  work();
  if (dl_batch_release_on(batch, stream, &error) != DL_OK) fail(error.message);
  return bytes;
}
dl_stats stats_of(const Job& job);

void measure_transfers(const Cuda& cuda, const GpuSettings& settings, Report& report);
void measure_idle(const Cuda& cuda, const GpuSettings& settings, Report& report);
void measure_kernels(const Cuda& cuda, const GpuSettings& settings, Report& report);
void measure_consumer(const Cuda& cuda, const GpuSettings& settings, Report& report);
void check_steady_memory(const Cuda& cuda, const GpuSettings& settings, Report& report);

}  // namespace bench
