// The transform room alone, one thread: gathers against bare loops over the same list of rows, and the main
// kernels. Rounds of program and bare loop alternate, so that their ratio holds on a machine with other work.
//
// ns_row: median over rounds of the program; bare_ns: of the best bare loop; ratio: bare_ns / ns_row. The slots
// are those of a loader (8 batches of 256 rows, reused in order); runs are of 64 rows, as workers claim them.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/transform/transform.h"

namespace dataline {
namespace {

constexpr int64_t kRunRows = 64;
constexpr int64_t kBatchRows = 256;
constexpr int64_t kSlots = 8;
constexpr int64_t kAhead = 12;

// The page cache of an unlinked sparse file: for a gather the same as a mapped dataset, including 4 KiB pages.
class MappedBytes {
 public:
  explicit MappedBytes(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    std::FILE* file = std::tmpfile();
    if (file == nullptr || ftruncate(fileno(file), bytes) != 0) std::abort();
    void* map = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE, fileno(file), 0);
    if (map == MAP_FAILED) std::abort();
    std::fclose(file);
    data_ = static_cast<const std::byte*>(map);
  }
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() { munmap(const_cast<std::byte*>(data_), bytes_); }
  const std::byte* data() const { return data_; }

 private:
  size_t bytes_;
  const std::byte* data_;
};

struct Buffer {
  explicit Buffer(int64_t bytes)
      : data(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64)))) {
    std::memset(data, 1, static_cast<size_t>(bytes));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data); }
  std::byte* data;
};

[[gnu::always_inline]] inline void prefetch(const std::byte* row, int64_t bytes) {
  for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(row + line, 0, 2);
  __builtin_prefetch(row + bytes - 1, 0, 2);
}

using BareLoop = void (*)(const std::byte* const* rows, int64_t count, int64_t bytes, std::byte* to);

void bare_memcpy(const std::byte* const* rows, int64_t count, int64_t bytes, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch(rows[i + kAhead], bytes);
    std::memcpy(to + i * bytes, rows[i], static_cast<size_t>(bytes));
  }
}

#if defined(__x86_64__) && !defined(__clang__)
// A copy of fixed 128-byte groups as the compiler vectorizes it, with AVX-512 where the machine has it.
[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]]
#endif
void bare_groups(const std::byte* const* rows, int64_t count, int64_t bytes, std::byte* to) {
  constexpr int64_t kGroup = 128;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(rows[i + kAhead] + line, 0, 2);
    }
    std::byte* target = to + i * bytes;
    int64_t at = 0;
    for (; at + kGroup <= bytes; at += kGroup) std::memcpy(target + at, rows[i] + at, kGroup);
    if (at < bytes) std::memcpy(target + at, rows[i] + at, static_cast<size_t>(bytes - at));
  }
}

template <typename T>
void bare_scalars(const std::byte* const* rows, int64_t count, int64_t, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, rows[i], sizeof value);
    std::memcpy(to + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
  }
}

// CPU time of this thread, which other programs on the machine do not affect.
double now_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Case {
  Field field;
  std::string text;
  int64_t rows = 60000;    // in the set
  int64_t row_stride = 0;  // bytes from row to row in the set; 0: the field's bytes
  int64_t source_offset = 0;
  bool in_order = false;
};

// Every row of the set (or the first million) once per round, in random order.
std::vector<const std::byte*> row_list(const Case& wanted, int64_t stride, const std::byte* data) {
  const int64_t count = std::min<int64_t>(wanted.rows, 1 << 20) / kBatchRows * kBatchRows;
  std::vector<const std::byte*> list(static_cast<size_t>(count));
  for (size_t i = 0; i < list.size(); ++i) {
    const uint64_t drawn = random_below(random_bits(7, i), static_cast<uint64_t>(wanted.rows));
    list[i] = data + (wanted.in_order ? static_cast<int64_t>(i) : static_cast<int64_t>(drawn)) * stride;
  }
  return list;
}

void run_case(benchmark::State& state, const Case& wanted) {
  const auto compiled = compile_transforms(wanted.text, std::span(&wanted.field, 1));
  if (!compiled.is_ok()) return state.SkipWithError(compiled.status().message().c_str());
  const Program& program = *compiled.value().programs[0];
  const int64_t row_bytes = wanted.field.bytes(), out_bytes = program.output().bytes();
  const int64_t stride = wanted.row_stride > 0 ? wanted.row_stride : row_bytes;
  const MappedBytes data(wanted.rows * stride + 4096);
  const std::vector<const std::byte*> list = row_list(wanted, stride, data.data());
  const Buffer slots(kSlots * kBatchRows * std::max(out_bytes, row_bytes)), scratch(program.scratch_bytes());
  RowErrors errors;
  FieldRows rows;
  rows.source_offset = wanted.source_offset;
  rows.target_stride = out_bytes;
  rows.contiguous = wanted.in_order;
  rows.scratch = scratch.data;
  rows.errors = &errors;
  rows.count = kRunRows;
  const auto memory = HostMemory::create({});
  const auto kept = program.make_state(*memory);
  if (!kept.is_ok()) return state.SkipWithError(kept.status().message().c_str());
  rows.state = kept.value().get();
  const int64_t count = static_cast<int64_t>(list.size());
  const auto slot_of = [&](int64_t row, int64_t bytes) {
    return slots.data + (row / kBatchRows % kSlots * kBatchRows + row % kBatchRows) * bytes;
  };
  std::vector<BareLoop> bare = {bare_memcpy, bare_groups};
  if (row_bytes == 4) bare = {bare_scalars<uint32_t>};
  if (row_bytes == 8) bare = {bare_scalars<uint64_t>};
  std::vector<std::vector<double>> times(bare.size() + 1);
  for (auto _ : state) {
    for (size_t which = 0; which < times.size(); ++which) {
      const double begin = now_ns();
      for (int64_t i = 0; i < count; i += kRunRows) {
        if (which < bare.size()) {
          bare[which](&list[static_cast<size_t>(i)], kRunRows, row_bytes, slot_of(i, row_bytes));
        } else {
          rows.source = &list[static_cast<size_t>(i)];
          rows.target = slot_of(i, out_bytes);
          program.run(rows);
        }
        benchmark::ClobberMemory();
      }
      times[which].push_back((now_ns() - begin) / static_cast<double>(count));
    }
    state.SetIterationTime(times.back().back() * static_cast<double>(count) * 1e-9);
  }
  double best = median(times[0]);
  for (size_t which = 1; which < bare.size(); ++which) best = std::min(best, median(times[which]));
  const double ours = median(times.back());
  state.counters["ns_row"] = ours;
  state.counters["least_ns"] = *std::min_element(times.back().begin(), times.back().end());
  state.counters["bare_ns"] = best;
  state.counters["ratio"] = best / ours;
  state.counters["GB/s"] = static_cast<double>(out_bytes) / ours;
  state.counters["Mrows/s"] = 1e3 / ours;
}

Field field_of(DType dtype, std::vector<int64_t> shape, std::string axes = "") {
  Field field;
  field.name = "data";
  field.dtype = dtype;
  field.shape = std::move(shape);
  field.axes = std::move(axes);
  return field;
}

void add(const char* name, Case wanted) {
  benchmark::RegisterBenchmark(name, [wanted](benchmark::State& state) { run_case(state, wanted); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

// Windows of 1,025 tokens as two tensors: x and y are two fields of one row, read one after the other.
void run_tokens(benchmark::State& state, int64_t run_rows) {
  constexpr int64_t kWindows = 97000, kWindowBytes = 2050, kTensorBytes = 2048;
  const Field fields[] = {field_of(DType::kU16, {1024}), field_of(DType::kU16, {1024})};
  const auto compiled = compile_transforms("", fields);
  if (!compiled.is_ok()) return state.SkipWithError(compiled.status().message().c_str());
  Case wanted;
  wanted.rows = kWindows;
  const MappedBytes data(kWindows * kTensorBytes + kWindowBytes);
  const std::vector<const std::byte*> list = row_list(wanted, kTensorBytes, data.data());
  const int64_t slot_bytes = run_rows * kTensorBytes;
  const Buffer slots(2 * kSlots * slot_bytes), bare_slots(kSlots * run_rows * kWindowBytes);
  RowErrors errors;
  FieldRows rows;
  rows.count = run_rows;
  rows.target_stride = kTensorBytes;
  rows.errors = &errors;
  const int64_t count = static_cast<int64_t>(list.size()) / run_rows * run_rows;
  std::vector<double> ours, bare;
  for (auto _ : state) {
    const double begin = now_ns();
    for (int64_t i = 0; i < count; i += run_rows) {
      rows.source = &list[static_cast<size_t>(i)];
      for (int64_t f = 0; f < 2; ++f) {
        rows.source_offset = 2 * f;
        rows.target = slots.data + (i / run_rows % kSlots * 2 + f) * slot_bytes;
        compiled.value().programs[static_cast<size_t>(f)]->run(rows);
      }
    }
    const double middle = now_ns();
    for (int64_t i = 0; i < count; i += run_rows)
      bare_groups(&list[static_cast<size_t>(i)], run_rows, kWindowBytes,
                  bare_slots.data + i / run_rows % kSlots * run_rows * kWindowBytes);
    bare.push_back((now_ns() - middle) / static_cast<double>(count));
    ours.push_back((middle - begin) / static_cast<double>(count));
    state.SetIterationTime((middle - begin) * 1e-9);
  }
  state.counters["ns_row"] = median(ours);
  state.counters["least_ns"] = *std::min_element(ours.begin(), ours.end());
  state.counters["bare_ns"] = median(bare);  // one copy of the whole window
  state.counters["Mrows/s"] = 1e3 / median(ours);
}

void add_copies() {
  add("copy/784B/47MB", {field_of(DType::kU8, {28, 28}), "", 60000});
  add("copy/784B/47MB/in_order", {field_of(DType::kU8, {28, 28}), "", 60000, 0, 0, true});
  add("copy/784B/4.7GB", {field_of(DType::kU8, {28, 28}), "", 6000000});
  add("copy/3072B/154MB", {field_of(DType::kU8, {3, 32, 32}), "", 50000, 3073, 1});
  add("copy/2048B/200MB_tokens", {field_of(DType::kU16, {1024}), "", 97000, 2048, 2});
  benchmark::RegisterBenchmark("copy/tokens_x_and_y/200MB",
                               [](benchmark::State& state) { run_tokens(state, 16); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  add("copy/150528B/300MB", {field_of(DType::kU8, {224, 224, 3}), "", 2048});
  add("copy/256B", {field_of(DType::kU8, {256}), "", 180000});
  add("copy/100B", {field_of(DType::kU8, {100}), "", 400000});
  add("copy/24B", {field_of(DType::kU8, {24}), "", 400000});
  add("copy/8B", {field_of(DType::kI64, {}), "", 60000});
  add("copy/4B", {field_of(DType::kI32, {}), "", 60000});
  add("copy/4B/40MB", {field_of(DType::kI32, {}), "", 10000000});
}

void add_kernels() {
  add("normalize/784B_f32/47MB", {field_of(DType::kU8, {28, 28}, "HW"), "normalize(mnist)", 60000});
  add("normalize/784B_f32/4.7GB", {field_of(DType::kU8, {28, 28}, "HW"), "normalize(mnist)", 6000000});
  add("normalize/784B_f16/47MB",
      {field_of(DType::kU8, {28, 28}, "HW"), "normalize(mnist), cast(f16)", 60000});
  add("normalize/784B_bf16/47MB",
      {field_of(DType::kU8, {28, 28}, "HW"), "normalize(mnist), cast(bf16)", 60000});
  add("normalize/cifar_chw", {field_of(DType::kU8, {3, 32, 32}, "CHW"), "normalize(cifar10)", 50000});
  add("normalize/cifar_hwc", {field_of(DType::kU8, {32, 32, 3}, "HWC"), "normalize(cifar10)", 50000});
  add("normalize/cifar_hwc_to_chw",
      {field_of(DType::kU8, {32, 32, 3}, "HWC"), "normalize(cifar10), chw", 50000});
  add("layout/cifar_hwc_to_chw", {field_of(DType::kU8, {32, 32, 3}, "HWC"), "chw", 50000});
  add("layout/224_hwc_to_chw", {field_of(DType::kU8, {224, 224, 3}, "HWC"), "chw", 2048});
  add("normalize/224_hwc_to_chw",
      {field_of(DType::kU8, {224, 224, 3}, "HWC"), "normalize(imagenet), chw", 2048});
  add("augment/cifar_chw_u8",
      {field_of(DType::kU8, {3, 32, 32}, "CHW"), "random_crop(32, padding=4), hflip", 50000});
  add("augment/cifar_chw_f32", {field_of(DType::kU8, {3, 32, 32}, "CHW"),
                                "random_crop(32, padding=4), hflip, normalize(cifar10)", 50000});
  add("augment/cifar_hwc_to_chw_f32", {field_of(DType::kU8, {32, 32, 3}, "HWC"),
                                       "random_crop(32, padding=4), hflip, normalize(cifar10), chw", 50000});
  add("cast/tokens_u16_i64", {field_of(DType::kU16, {1024}), "cast(i64)", 97000});
  add("cast/tokens_u16_i32", {field_of(DType::kU16, {1024}), "cast(i32)", 97000});
  add("cast/label_u8_i64", {field_of(DType::kU8, {}), "cast(i64)", 60000});
  add("cast/1024_f32_bf16", {field_of(DType::kF32, {1024}), "cast(bf16)", 50000});
  add("cast/1024_f64_f32", {field_of(DType::kF64, {1024}), "cast(f32)", 25000});
  add("one_hot/label_i64_10", {field_of(DType::kI64, {}), "one_hot(10)", 60000});
  add("chain/784B_three_steps",
      {field_of(DType::kU8, {28, 28}, "HW"), "normalize(mnist), scale(2), cast(f64)", 60000});
}

void add_images() {
  const Field image = field_of(DType::kU8, {256, 256, 3}, "HWC");
  add("images/256_random_crop_224", {image, "random_crop(224), hflip, normalize(imagenet), chw", 1024});
  add("images/256_random_resized_crop_224",
      {image, "random_resized_crop(224), hflip, normalize(imagenet), chw", 1024});
  add("images/256_resize_224_u8", {image, "resize(224)", 1024});
  add("images/350x260_to_224", {field_of(DType::kU8, {260, 350, 3}, "HWC"), "resize(224x224)", 1024});
}

// Each alone, on a picture of its usual size.
void add_colors() {
  const Field image = field_of(DType::kU8, {224, 224, 3}, "HWC");
  for (const char* text :
       {"color_jitter(0.4, contrast=0.4, saturation=0.4, hue=0.1)", "color_jitter(0.4)",
        "color_jitter(contrast=0.4)", "color_jitter(saturation=0.4)", "color_jitter(hue=0.1)", "grayscale(1)",
        "gaussian_blur(3)", "gaussian_blur(23)", "solarize(128, p=1)", "equalize(1)", "autocontrast(1)",
        "sharpness(2, p=1)", "pad(16)", "pad(16, mode=reflect)", "random_erasing(1)",
        "normalize(imagenet), chw, random_erasing(1)",
        "normalize(imagenet), chw, random_erasing(1, value=random)", "rand_augment", "trivial_augment"})
    add((std::string("colors/224/") + text).c_str(), {image, text, 256});
}

}  // namespace
}  // namespace dataline

int main(int argc, char** argv) {
  dataline::add_copies();
  dataline::add_kernels();
  dataline::add_images();
  dataline::add_colors();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
