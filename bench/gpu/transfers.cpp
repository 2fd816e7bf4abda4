// Host to device: the share of the rate of bare page-locked copies that is reached.
//
//   bare       copies from page-locked memory, nothing else
//   sent       the same copies by the loader's device room: events, locks, context
//   delivered  a whole loader: rows gathered by its workers, then sent
//   host       the same loader without a device: the rate of gathering alone, an upper bound for delivered
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

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

template <typename T>
T taken(dataline::Result<T> result) {
  if (!result.is_ok()) fail(std::string(result.status().message()));
  return result.take();
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

double delivered_rate(const Cuda& cuda, Job& job, double seconds) {
  void* stream = cuda.make_stream();
  int64_t bytes = 0;
  for (int i = 0; i < 2 * kSlots; ++i) use_batch(job, stream, [] {});
  cuda.synchronize(stream);
  const int64_t begin = now_ns();
  while (static_cast<double>(now_ns() - begin) < seconds * 1e9) bytes += use_batch(job, stream, [] {});
  cuda.synchronize(stream);
  const double elapsed = static_cast<double>(now_ns() - begin) * 1e-9;
  cuda.end_stream(stream);
  return static_cast<double>(bytes) / elapsed;
}

double host_rate(Job& job, double seconds) {
  consume(job, seconds / 4);
  const Throughput done = consume(job, seconds);
  return static_cast<double>(done.bytes) / static_cast<double>(done.elapsed_ns) * 1e9;
}

}  // namespace

void measure_transfers(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  for (const int64_t size : {1, 4, 16, 64}) {
    const int64_t bytes = size * settings.mib();
    const std::string variant = "transfer " + std::to_string(size) + " MiB";
    const int64_t rows = std::max(8 * bytes, settings.small ? 0 : int64_t{1} << 30) / settings.row_bytes();
    const double bare = static_cast<double>(bytes) / bare_seconds(cuda, bytes, settings.seconds);
    const double sent = static_cast<double>(bytes) / sent_seconds(settings, bytes);
    const double delivered = delivered_rate(cuda, *rows_job(settings, rows, bytes), settings.seconds);
    const double host = host_rate(*rows_job(settings, rows, bytes, {}, /*host=*/true), settings.seconds);
    report.set(variant, "bare_gb_per_s", bare * 1e-9);
    report.set(variant, "sent_gb_per_s", sent * 1e-9);
    report.set(variant, "delivered_gb_per_s", delivered * 1e-9);
    report.set(variant, "host_gb_per_s", host * 1e-9);
    report.set(variant, "sent_of_bare", sent / bare);
    report.set(variant, "delivered_of_bare", delivered / bare);
  }
}

}  // namespace bench
