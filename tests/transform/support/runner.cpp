// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/support/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "core/base/random.h"
#include "core/transform/transform.h"

namespace dataline::tests {
namespace {

constexpr std::byte kUntouched{0xdd};
constexpr size_t kGuardBytes = 128;

std::byte* aligned(std::vector<std::byte>& memory) {
  const auto at = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + ((at + 63) / 64 * 64 - at);
}

// Where rows lie: each in an allocation of exactly its size (so that a sanitizer sees every byte read beyond), or
// side by side.
struct Sources {
  std::vector<std::unique_ptr<std::byte[]>> owned;
  std::vector<const std::byte*> pointers;
  std::vector<int64_t> bytes;
};

Sources lay_out(const std::vector<std::vector<std::byte>>& rows, const RunSetup& setup) {
  Sources out;
  const int64_t before = setup.misalignment + setup.source_offset;
  std::byte* place = nullptr;
  if (setup.contiguous) {
    size_t total = static_cast<size_t>(before);
    for (const auto& row : rows) total += row.size();
    out.owned.push_back(std::make_unique<std::byte[]>(total));
    place = out.owned.back().get() + before;
  }
  for (const auto& row : rows) {
    if (!setup.contiguous) {
      out.owned.push_back(std::make_unique<std::byte[]>(static_cast<size_t>(before) + row.size()));
      place = out.owned.back().get() + before;
    }
    if (!row.empty()) std::memcpy(place, row.data(), row.size());
    out.pointers.push_back(place - setup.source_offset);
    out.bytes.push_back(static_cast<int64_t>(row.size()));
    place += row.size();
  }
  for (int64_t row : setup.absent) out.pointers[static_cast<size_t>(row)] = nullptr;
  return out;
}

bool untouched(const std::byte* begin, int64_t bytes) {
  return std::all_of(begin, begin + bytes, [](std::byte byte) { return byte == kUntouched; });
}

}  // namespace

std::vector<SimdTarget> simd_targets() {
  std::vector<SimdTarget> out = {SimdTarget::kPlain};
  const SimdTarget best = best_simd_target();
  if (best == SimdTarget::kNeon) out.push_back(best);
  for (SimdTarget target : {SimdTarget::kSse4, SimdTarget::kAvx2, SimdTarget::kAvx3}) {
    if (best != SimdTarget::kNeon && target <= best) out.push_back(target);
  }
  return out;
}

RunResult run_transform(std::string_view text, const Field& field,
                        const std::vector<std::vector<std::byte>>& rows, const RunSetup& setup) {
  auto compiled = compile_transforms(text, std::span(&field, 1), setup.settings, setup.target);
  if (!compiled.is_ok()) {
    ADD_FAILURE() << text << ": " << compiled.status().message();
    return {};
  }
  return run_program(*compiled.value().programs[0], text, rows, setup);
}

RunResult run_program(const Program& program, std::string_view text,
                      const std::vector<std::vector<std::byte>>& rows, const RunSetup& setup) {
  RunResult result;
  result.output = program.output();
  result.identity = program.identity();
  // Each row says how long it is.
  const bool sized = result.output.bytes() < 0 && !result.output.to_bucket;
  const int64_t count = static_cast<int64_t>(rows.size());
  const int64_t stride = setup.target_stride >= 0 ? setup.target_stride : result.output.bytes();
  const int64_t scratch_bytes = program.scratch_bytes();
  std::vector<std::byte> target(static_cast<size_t>(count * stride) + 2 * kGuardBytes + 64, kUntouched);
  std::vector<std::byte> scratch(static_cast<size_t>(scratch_bytes) + 2 * kGuardBytes + 64, kUntouched);
  std::byte* const to = aligned(target) + kGuardBytes;
  const Sources sources = lay_out(rows, setup);
  std::vector<int64_t> written(rows.size(), -1);
  if (result.output.varies() && sized) result.extents.resize(rows.size());
  const auto memory = HostMemory::create({});
  auto state = program.make_state(*memory);
  if (!state.is_ok()) {
    ADD_FAILURE() << text << ": " << state.status().message();
    return {};
  }
  EXPECT_LE(memory->in_use_bytes(), program.state_bytes()) << text;
  for (int64_t first = 0; first < count; first += setup.run_rows) {
    const auto at = static_cast<size_t>(first);
    RowErrors errors;
    FieldRows run;
    run.count = std::min(setup.run_rows, count - first);
    run.source = &sources.pointers[at];
    run.source_offset = setup.source_offset;
    run.source_bytes = &sources.bytes[at];
    run.contiguous = setup.contiguous && setup.absent.empty();
    run.target = to + first * stride;
    run.target_stride = stride;
    run.target_bytes = sized ? &written[at] : nullptr;
    run.target_extents = result.extents.empty() ? nullptr : &result.extents[at];
    run.state = state.value().get();
    run.first_slot = setup.first_slot + static_cast<int64_t>(at);
    run.seed = setup.seed;
    run.epoch = setup.epoch;
    run.bucket = setup.bucket;
    run.scratch = aligned(scratch) + kGuardBytes / 64 * 64;
    run.errors = &errors;
    program.run(run);
    for (RowError& error : errors.all())
      result.errors.push_back({first + error.row, std::move(error.status)});
  }
  EXPECT_TRUE(untouched(to - kGuardBytes, kGuardBytes)) << text << ": wrote before the target";
  EXPECT_TRUE(untouched(to + count * stride, kGuardBytes)) << text << ": wrote behind the target";
  std::byte* const scratch_begin = aligned(scratch) + kGuardBytes;
  EXPECT_TRUE(untouched(scratch_begin + scratch_bytes, kGuardBytes)) << text << ": wrote behind its scratch";
  for (int64_t row : setup.absent) {
    EXPECT_TRUE(untouched(to + row * stride, stride)) << text << ": touched the place of absent row " << row;
    EXPECT_EQ(written[static_cast<size_t>(row)], -1) << text << ": told the bytes of absent row " << row;
    written[static_cast<size_t>(row)] = 0;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bytes = sized                     ? written[static_cast<size_t>(i)]
                          : result.output.to_bucket ? stride
                                                    : result.output.bytes();
    EXPECT_TRUE(untouched(to + i * stride + bytes, stride - bytes)) << text << ": wrote behind row " << i;
    result.rows.emplace_back(to + i * stride, to + i * stride + bytes);
  }
  return result;
}

Tensor transform_one(std::string_view text, const Tensor& in, const RunSetup& setup) {
  RunResult result = run_transform(text, in.field("data"), {in.bytes}, setup);
  EXPECT_TRUE(result.errors.empty()) << text << ": " << result.errors.front().status.message();
  Tensor out;
  out.dtype = result.output.dtype;
  out.shape = result.output.shape;
  out.axes = result.output.axes;
  if (!result.rows.empty()) out.bytes = std::move(result.rows[0]);
  return out;
}

std::string difference(const Tensor& expected, const Tensor& got) {
  if (expected.dtype != got.dtype)
    return concat("dtype ", dtype_name(expected.dtype), " / ", dtype_name(got.dtype));
  if (expected.shape != got.shape || expected.axes != got.axes)
    return concat(field_type_text(expected.field("")), " ", expected.axes, " / ",
                  field_type_text(got.field("")), " ", got.axes);
  const auto hex = [](const std::byte* from, int64_t bytes) {
    std::string out;
    for (int64_t i = bytes - 1; i >= 0; --i) {
      const int value = std::to_integer<int>(from[i]);
      out += "0123456789abcdef"[value / 16];
      out += "0123456789abcdef"[value % 16];
    }
    return out;
  };
  const int64_t bytes = dtype_bytes(expected.dtype);
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (std::memcmp(expected.at(i), got.at(i), static_cast<size_t>(bytes)) != 0)
      return concat("element ", i, " of ", expected.count(), ": expected ", hex(expected.at(i), bytes),
                    ", got ", hex(got.at(i), bytes));
  }
  return "";
}

Tensor settled(Tensor tensor) {
  if (tensor.dtype != DType::kBool) return tensor;
  for (std::byte& one : tensor.bytes) one = one != std::byte{0} ? std::byte{1} : std::byte{0};
  return tensor;
}

Tensor random_tensor(DType dtype, std::vector<int64_t> shape, std::string axes, uint64_t seed) {
  Tensor out = empty_tensor(dtype, std::move(shape), std::move(axes));
  const int64_t half = is_complex(dtype) ? 2 : 1, bytes = dtype_bytes(dtype) / half;
  for (int64_t i = 0; i < out.count() * half; ++i) {
    std::byte* const to = out.bytes.data() + i * bytes;
    const uint64_t bits = random_bits(seed, static_cast<uint64_t>(i));
    std::memcpy(to, &bits, static_cast<size_t>(bytes));
    const uint64_t kind = random_bits(seed, static_cast<uint64_t>(i), 1) % 16;
    if (dtype == DType::kBool) *to = static_cast<std::byte>(kind % 3);  // 2 is true as well
    if (kind == 0) std::memset(to, 0, static_cast<size_t>(bytes));
    if (kind == 1) std::memset(to, 0xff, static_cast<size_t>(bytes));
    // Small numbers, that other types hold too, and what lies between two of a coarser type.
    const double small = (static_cast<double>(bits % 4096) - 1024) / (kind % 2 == 0 ? 1 : 16);
    if (kind >= 8 && (dtype == DType::kF64 || dtype == DType::kC128)) std::memcpy(to, &small, 8);
    const auto narrow = static_cast<float>(small);
    if (kind >= 8 && (dtype == DType::kF32 || dtype == DType::kC64)) std::memcpy(to, &narrow, 4);
    const auto whole = static_cast<int64_t>(bits % 512) - 200;
    if (kind >= 8 && dtype_is_integer(dtype)) std::memcpy(to, &whole, static_cast<size_t>(bytes));
    const double edge =
        std::ldexp(1 + static_cast<double>(bits % 2048) / 1024, static_cast<int>(kind * 37 % 160) - 80);
    if (kind == 6 && dtype == DType::kF64) std::memcpy(to, &edge, 8);
  }
  return out;
}

Tensor finite_tensor(DType dtype, std::vector<int64_t> shape, std::string axes, uint64_t seed) {
  Tensor out = random_tensor(dtype, std::move(shape), std::move(axes), seed);
  if (!dtype_is_float(dtype) && !is_complex(dtype)) return out;
  // Clears one exponent bit, so that none has them all.
  const bool f64 = dtype == DType::kF64 || dtype == DType::kC128;
  const int64_t bytes = f64 ? 8 : dtype == DType::kF32 || dtype == DType::kC64 ? 4 : 2;
  for (size_t i = static_cast<size_t>(bytes) - 1; i < out.bytes.size(); i += static_cast<size_t>(bytes))
    out.bytes[i] &= std::byte{0xbf};
  return out;
}

}  // namespace dataline::tests
