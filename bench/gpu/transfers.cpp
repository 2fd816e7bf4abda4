// Host to device, for each size of batch: the share of what bare copies and bare gathering allow that is reached.
//
//   bare       copies from page-locked memory, nothing else
//   sent       the same copies by the loader's device room: events, locks, context
//   delivered  a whole loader: rows gathered by its workers, then sent
//   gather     the same rows gathered in host memory by a bare loop, with as many threads as the loader kept cores busy
//
// No loader can deliver more than the lesser of bare and gather: delivered_of_limit is the share of that.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/files.h"
#include "bench/gpu/gpu.h"
#include "core/device/device.h"

namespace bench {

namespace {

constexpr int kSlots = 4;

double bare_seconds(const Cuda& cuda, int64_t bytes, double seconds) {
  const Buffers buffers(cuda, bytes, kSlots);
  void* stream = cuda.make_stream();
  const double each = seconds_each(
      seconds, 8, [&](int64_t i) { cuda.copy_to_device(buffers.device(i), buffers.host(i), bytes, stream); },
      [&] { cuda.synchronize(stream); });
  cuda.end_stream(stream);
  return each;
}

void must(const dataline::Status& status) {
  if (!status.is_ok()) fail(std::string(status.message()));
}

double sent_seconds(const GpuSettings& settings, int64_t bytes) {
  dataline::DeviceRequest request;
  request.name = "cuda:0";
  request.cuda_library = settings.cuda_library;
  const auto device = taken(dataline::open_device(request));
  const dataline::DeviceThread here(*device);
  const int64_t stride = (bytes + 4095) / 4096 * 4096;
  const auto memory =
      static_cast<std::byte*>(std::aligned_alloc(size_t{4096}, static_cast<size_t>(stride * kSlots)));
  if (memory == nullptr) fail("no memory for slots");
  std::fill_n(memory, stride * kSlots, std::byte{1});
  double each = 0;
  if (device->pin(memory, stride, kSlots).take() != kSlots) fail("the driver does not page-lock the slots");
  {
    auto slots = taken(device->make_slots(kSlots, stride));
    const dataline::CopyRange whole{0, bytes};
    each = seconds_each(
        settings.seconds, 8,
        [&](int64_t i) {
          must(slots[static_cast<size_t>(i % kSlots)]->send(memory + i % kSlots * stride, {&whole, 1}, {}));
        },
        [&] {
          for (const auto& slot : slots) must(slot->wait_for_copies());
        });
  }
  device->unpin();
  std::free(memory);
  return each;
}

Throughput delivered(const Cuda& cuda, Job& job, double seconds) {
  void* stream = cuda.make_stream();
  for (int i = 0; i < 2 * kSlots; ++i) use_batch(job, stream, [] {});
  cuda.synchronize(stream);
  Throughput done;
  const int64_t begin = now_ns(), cpu_begin = process_cpu_ns();
  for (; static_cast<double>(now_ns() - begin) < seconds * 1e9; ++done.batches)
    done.bytes += use_batch(job, stream, [] {});
  cuda.synchronize(stream);
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  cuda.end_stream(stream);
  return done;
}

double rate(const Throughput& done) {
  return static_cast<double>(done.bytes) / static_cast<double>(done.elapsed_ns) * 1e9;
}

double gather_rate(const GpuSettings& settings, int64_t rows, int64_t bytes, int threads) {
  const Mapping file(random_rows_file(settings.data_dir, rows, settings.row_bytes()));
  file.populate();
  GatherWork work;
  work.base = file.data() + kNpyHeaderBytes;
  work.stride_bytes = work.row_bytes = settings.row_bytes();
  work.order = shuffled_order(rows);
  work.batch_size = bytes / settings.row_bytes();
  work.slot_count = 2 * kSlots;
  return rate(BareGather(work, threads).run(settings.seconds));
}

}  // namespace

void measure_transfers(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  for (const BatchSize& size : kBatchSizes) {
    const int64_t bytes = size.bytes(settings);
    const std::string variant = std::string("transfer ") + size.name;
    const int64_t rows = std::max(8 * bytes, settings.small ? 0 : int64_t{1} << 30) / settings.row_bytes();
    const double bare = static_cast<double>(bytes) / bare_seconds(cuda, bytes, settings.seconds);
    const double sent = static_cast<double>(bytes) / sent_seconds(settings, bytes);
    const Throughput done = delivered(cuda, *rows_job(settings, rows, bytes), settings.seconds);
    const double cores = static_cast<double>(done.cpu_ns) / static_cast<double>(done.elapsed_ns);
    const int threads = std::max(1, static_cast<int>(std::lround(cores)));
    const double gather = gather_rate(settings, rows, bytes, threads);
    report.set(variant, "bare_gb_per_s", bare * 1e-9);
    report.set(variant, "sent_gb_per_s", sent * 1e-9);
    report.set(variant, "sent_of_bare", sent / bare);
    report.set(variant, "delivered_gb_per_s", rate(done) * 1e-9);
    report.set(variant, "gather_gb_per_s", gather * 1e-9);
    report.set(variant, "limit_gb_per_s", std::min(bare, gather) * 1e-9);
    report.set(variant, "delivered_of_limit", rate(done) / std::min(bare, gather));
    report.set(variant, "cores", cores);
    report.set(
        variant, "process_cpu_us_per_batch",
        static_cast<double>(done.cpu_ns) * 1e-3 / static_cast<double>(std::max(int64_t{1}, done.batches)));
  }
}

}  // namespace bench
