// Programs allocate nothing while they run.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/transform/transform.h"
#include "tests/transform/support/tensor.h"
#ifdef DATALINE_HAS_LIBJPEG
#include "tests/transform/frame/encoded_images.h"
#endif

namespace {
std::atomic<int64_t> allocations{0};
}

// Not inlined, or the compiler sees malloc meet delete.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace dataline::tests::allocation_test {
namespace {

struct Work {
  Tensor sample;
  std::string_view text;
};

// Runs `rows` of `sample` through the text twice; what the second time allocates.
int64_t allocated(const Field& field, const std::vector<std::byte>& sample, std::string_view text) {
  const auto compiled = compile_transforms(text, std::span(&field, 1));
  EXPECT_TRUE(compiled.is_ok()) << text << ": " << compiled.status().message();
  const Program& program = *compiled.value().programs[0];
  const auto memory = HostMemory::create({});
  const auto state = program.make_state(*memory);
  EXPECT_TRUE(state.is_ok());
  constexpr int64_t kRows = 64, kRoom = 1 << 16;
  const std::vector<const std::byte*> sources(kRows, sample.data());
  const std::vector<int64_t> source_bytes(kRows, static_cast<int64_t>(sample.size()));
  std::vector<int64_t> target_bytes(kRows);
  std::vector<RowExtent> extents(kRows);
  const int64_t stride = program.output().bytes() < 0 ? kRoom : program.output().bytes();
  std::vector<std::byte> target(static_cast<size_t>(kRows * stride));
  std::vector<std::byte> scratch(static_cast<size_t>(program.scratch_bytes()));
  RowErrors errors;
  FieldRows rows;
  rows.count = kRows;
  rows.source = sources.data();
  rows.source_bytes = source_bytes.data();
  rows.target = target.data();
  rows.target_stride = stride;
  rows.target_bytes = target_bytes.data();
  rows.target_extents = extents.data();
  rows.first_slot = 3;
  rows.scratch = scratch.data();
  rows.state = state.value().get();
  rows.errors = &errors;
  program.run(rows);
  const int64_t before = allocations;
  rows.first_slot += kRows;
  program.run(rows);
  const int64_t after = allocations;
  EXPECT_TRUE(errors.empty()) << text << ": " << errors.all().front().status.message();
  return after - before;
}

TEST(Allocation, RunningAProgramAllocatesNothing) {
  const Tensor image = empty_tensor(DType::kU8, {32, 32, 3}, "HWC");
  const Work works[] = {
      {empty_tensor(DType::kU8, {28, 28}, "HW"), ""},
      {empty_tensor(DType::kU8, {}, ""), "cast(i64)"},
      {image, "normalize(imagenet), cast(f16), cast(f64)"},
      {image, "random_crop(32, padding=4), hflip, normalize(imagenet), chw"},
      {image, "normalize(imagenet), random_crop(32, padding=4), chw, flatten"},
      {empty_tensor(DType::kU16, {100}, ""), "pad_to(1000, value=7), cast(i64)"},
      {empty_tensor(DType::kI64, {}, ""), "one_hot(10), cast(f16)"},
      {image, "random_resized_crop(24), hflip, vflip, normalize(imagenet), chw"},
      {image,
       "resize(40), random_crop(32, padding=2, mode=reflect), resize(16x20, filter=lanczos), cast(f32)"},
      {empty_tensor(DType::kU8, {3, 32, 32}, "CHW"), "random_resized_crop(40), normalize(cifar10)"},
  };
  for (const Work& work : works)
    EXPECT_EQ(allocated(work.sample.field("image"), work.sample.bytes, work.text), 0) << work.text;
}

#ifdef DATALINE_HAS_LIBJPEG
TEST(Allocation, DecodingAllocatesNothingOfOurs) {
  for (const char* text : {"decode", "decode, random_resized_crop(24), hflip, normalize(imagenet), chw",
                           "decode(gray), resize(20), center_crop(16), cast(f16)",
                           "decode, random_crop(30, padding=4, mode=edge), resize([16, 8], filter=bicubic)"})
    EXPECT_EQ(allocated(encoded_field(), jpeg_row(48, 64), text), 0) << text;
}
#endif

}  // namespace
}  // namespace dataline::tests::allocation_test
