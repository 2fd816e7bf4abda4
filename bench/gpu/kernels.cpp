// The fused kernels against a copy within device memory: bytes read and written a second, in the same run.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "bench/gpu/gpu.h"
#include "core/base/field.h"
#include "core/device/device.h"
#include "core/transform/transform.h"

namespace bench {

namespace {

using dataline::DType;

struct Case {
  const char* name;
  const char* transform;
  DType stored;
  std::vector<int64_t> shape;
  const char* axes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"u8 HWC to f32 CHW", "normalize(imagenet), chw", DType::kU8, {224, 224, 3}, "HWC"},
      {"u8 HWC to f16 CHW", "normalize(imagenet), cast(f16), chw", DType::kU8, {224, 224, 3}, "HWC"},
      {"u8 HWC to bf16 HWC", "normalize(imagenet), cast(bf16)", DType::kU8, {224, 224, 3}, "HWC"},
      {"u8 CHW to f32 CHW", "normalize(imagenet)", DType::kU8, {3, 224, 224}, "CHW"},
      {"u8 HWC, crop and flip, to f32 CHW",
       "random_crop(224, padding=4), hflip(0.5), normalize(imagenet), chw",
       DType::kU8,
       {224, 224, 3},
       "HWC"},
      {"u16 tokens to i64", "cast(i64)", DType::kU16, {1024}, ""},
  };
  return all;
}

int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Bytes read and written per second.
double copy_rate(const Cuda& cuda, const GpuSettings& settings) {
  constexpr int kPairs = 4;  // more than a cache holds
  const int64_t bytes = 128 * settings.mib();
  const uint64_t memory = cuda.allocate(bytes * 2 * kPairs);
  void* stream = cuda.make_stream();
  const double each = seconds_each(
      settings.seconds, 8,
      [&](int64_t i) {
        const uint64_t from = memory + static_cast<uint64_t>(i % kPairs * 2 * bytes);
        cuda.copy_on_device(from + static_cast<uint64_t>(bytes), from, bytes, stream);
      },
      [&] { cuda.synchronize(stream); });
  cuda.end_stream(stream);
  cuda.release(memory);
  return 2 * static_cast<double>(bytes) / each;
}

// One kernel over a batch of rows that are in device memory already, alternating between slots.
double kernel_rate(dataline::Device& device, const dataline::Tail& tail, const GpuSettings& settings) {
  constexpr int kSlots = 4;
  const int64_t rows = std::max(int64_t{2}, 192 * settings.mib() / (tail.in_bytes() + tail.out_bytes()));
  const int64_t input = aligned(rows * tail.in_bytes());
  const int64_t geometry =
      tail.geometry ? aligned(rows * static_cast<int64_t>(sizeof(dataline::TailGeometry))) : 0;
  auto slots = taken(device.make_slots(kSlots, input + geometry + aligned(rows * tail.out_bytes())));
  dataline::TailCall call;
  call.tail = &tail;
  call.rows = rows;
  call.source_stride = tail.in_bytes();
  call.geometry_offset = tail.geometry ? input : -1;
  call.target_offset = input + geometry;

  // Pixels may have any value, but each row needs its crop and flip.
  dataline::TailGeometry whole = tail.view;
  whole.y = {1, 0, 0, static_cast<int32_t>(tail.in_height)};
  whole.x = {-1, static_cast<int32_t>(tail.out_width - 1), 0, static_cast<int32_t>(tail.in_width)};
  std::vector<dataline::TailGeometry> places(static_cast<size_t>(geometry) / sizeof whole, whole);
  std::vector<std::byte> host(static_cast<size_t>(input), std::byte{1});
  const auto* bytes = reinterpret_cast<const std::byte*>(places.data());
  host.insert(host.end(), bytes, bytes + places.size() * sizeof whole);
  const dataline::CopyRange everything{0, static_cast<int64_t>(host.size())};
  const auto finish = [&] {
    for (const auto& slot : slots) {
      if (!slot->wait_for_copies().is_ok()) fail("the kernel failed");
    }
  };
  if (!device.load_kernels(*slots[0], {&call, 1}).is_ok()) fail("the kernel does not load");
  for (const auto& slot : slots) {
    if (!slot->send(host.data(), {&everything, 1}, {&call, 1}).is_ok()) fail("the kernel was not taken");
  }
  const double each = seconds_each(
      settings.seconds, 8,
      [&](int64_t i) {
        if (!slots[static_cast<size_t>(i % kSlots)]->send(host.data(), {}, {&call, 1}).is_ok())
          fail("a launch failed");
      },
      finish);
  return static_cast<double>(rows * (tail.in_bytes() + tail.out_bytes())) / each;
}

}  // namespace

void measure_kernels(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  dataline::DeviceRequest request;
  request.name = "cuda:0";
  request.cuda_library = settings.cuda_library;
  const auto device = taken(dataline::open_device(request));
  const dataline::DeviceThread here(*device);
  if (!device->info().kernels) {
    report.note("kernels", "left out: " + device->info().why_not);
    return;
  }
  const double copied = copy_rate(cuda, settings);
  report.set("device copy", "gb_per_s", copied * 1e-9);
  for (const Case& one : cases()) {
    dataline::Field field;
    field.name = "image";
    field.dtype = one.stored;
    field.shape = one.shape;
    field.axes = one.axes;
    const auto splits = taken(dataline::compile_transforms(one.transform, {&field, 1})).splits;
    const std::string variant = std::string("kernel ") + one.name;
    if (!splits[0].has_value() || !device->runs(splits[0]->tail)) {
      report.note(variant, "runs on the host");
      continue;
    }
    const double rate = kernel_rate(*device, splits[0]->tail, settings);
    report.set(variant, "gb_per_s", rate * 1e-9);
    report.set(variant, "of_device_copy", rate / copied);
  }
}

}  // namespace bench
