// Programs allocate nothing while they run.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/transform/compile.h"
#include "tests/transform/support/tensor.h"

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

namespace dataline::testing {
namespace {

struct Work {
  Tensor sample;
  std::string_view text;
};

TEST(Allocation, RunningAProgramAllocatesNothing) {
  const Work works[] = {
      {empty_tensor(DType::kU8, {28, 28}, "HW"), ""},
      {empty_tensor(DType::kU8, {}, ""), "cast(i64)"},
      {empty_tensor(DType::kU8, {32, 32, 3}, "HWC"), "normalize(imagenet), cast(f16), cast(f64)"},
      {empty_tensor(DType::kU8, {32, 32, 3}, "HWC"),
       "random_crop(32, padding=4), hflip, normalize(imagenet), chw"},
      {empty_tensor(DType::kU8, {32, 32, 3}, "HWC"),
       "normalize(imagenet), random_crop(32, padding=4), chw, flatten"},
      {empty_tensor(DType::kU16, {100}, ""), "pad_to(1000, value=7), cast(i64)"},
      {empty_tensor(DType::kI64, {}, ""), "one_hot(10), cast(f16)"},
  };
  for (const Work& work : works) {
    const Field field = work.sample.field("image");
    const auto compiled = compile_transforms(work.text, std::span(&field, 1));
    ASSERT_TRUE(compiled.is_ok()) << compiled.status().message();
    const Program& program = *compiled.value()[0];
    constexpr int64_t kRows = 64;
    const std::vector<const std::byte*> sources(kRows, work.sample.bytes.data());
    std::vector<std::byte> target(static_cast<size_t>(kRows * program.output().bytes()));
    std::vector<std::byte> scratch(static_cast<size_t>(program.scratch_bytes()));
    RowErrors errors;
    FieldRows rows;
    rows.count = kRows;
    rows.source = sources.data();
    rows.target = target.data();
    rows.target_stride = program.output().bytes();
    rows.first_slot = 3;
    rows.scratch = scratch.data();
    rows.errors = &errors;
    const int64_t before = allocations;
    program.run(rows);
    EXPECT_EQ(allocations - before, 0) << work.text;
    EXPECT_TRUE(errors.empty());
  }
}

}  // namespace
}  // namespace dataline::testing
