// Runs tails on a device: rows go up into one allocation, a kernel runs, the delivered rows come back. The fake driver,
// or the one that DATALINE_CUDA_LIBRARY names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/checked.h"
#include "core/device/kernel_set.h"
#include "core/device/kernels/kernel_call.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace dataline::tests {

// Where rows lie on the device.
struct Places {
  int64_t source_offset = 0;   // bytes before row 0
  int64_t source_gap = 0;      // bytes between rows
  std::vector<int64_t> index;  // rows to gather; empty: all in order
  int64_t target_offset = 0;   // bytes before the first delivered row
};

class KernelBench : public ::testing::Test {
 protected:
  using Rows = std::vector<std::vector<std::byte>>;
  using CopyBack = CudaCode (*)(void* to, CudaAddress from, size_t bytes, CudaStream stream);

  void SetUp() override {
    const char* real = std::getenv("DATALINE_CUDA_LIBRARY");
    fake_ = real == nullptr;
    if (fake_) fake_cuda_reset();
    if (!fake_ && kernel_image().bytes.empty()) GTEST_SKIP() << "this build has no kernels";
    const std::string library = fake_ ? FAKE_CUDA_LIBRARY : real;
    auto context = CudaContext::open(library, 0, 1);
    ASSERT_TRUE(context.is_ok()) << context.status().message();
    context_ = context.take();
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    copy_back_ = reinterpret_cast<CopyBack>(dlsym(handle, "cuMemcpyDtoHAsync_v2"));
    ASSERT_NE(copy_back_, nullptr);
    const CurrentContext current(*context_);
    // The fake takes what is no fat binary, so the tests need no build with kernels.
    static constexpr std::byte kAnyImage[16] = {};
    ASSERT_TRUE(kernels_.load(*context_, fake_ ? KernelImage{.bytes = kAnyImage} : kernel_image()).is_ok());
    ASSERT_EQ(kernels_.why_not(), "");
  }
  void TearDown() override {
    if (context_ == nullptr) return;
    {
      const CurrentContext current(*context_);
      kernels_.unload(*context_);
    }
    context_.reset();
    for (int64_t i = 0; fake_ && i < fake_cuda_misuses(); ++i) ADD_FAILURE() << fake_cuda_misuse(i);
  }

  const KernelSet& kernels() const { return kernels_; }

  // The delivered rows; `views`: a TailGeometry each, where the tail has geometry.
  Rows run_tail(const Tail& tail, const Rows& rows, const Rows& views, const Places& places) {
    const auto count = static_cast<int64_t>(places.index.empty() ? rows.size() : places.index.size());
    TailCall call;
    call.tail = &tail;
    call.rows = count;
    call.source_offset = places.source_offset;
    call.source_stride = tail.in_bytes() + places.source_gap;
    int64_t end = round_up(call.source_offset + call.source_stride * static_cast<int64_t>(rows.size()), 64);
    if (!places.index.empty()) call.index_offset = end, end += round_up(8 * count, 64);
    if (tail.geometry) call.geometry_offset = end, end += round_up(32 * count, 64);
    call.target_offset = end + places.target_offset;
    end += round_up(places.target_offset + tail.out_bytes() * count, 64);

    std::vector<std::byte> slot(static_cast<size_t>(end), std::byte{0xee});
    for (size_t i = 0; i < rows.size(); ++i)
      std::memcpy(
          &slot[static_cast<size_t>(call.source_offset + call.source_stride * static_cast<int64_t>(i))],
          rows[i].data(), rows[i].size());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = places.index.empty() ? i : places.index[static_cast<size_t>(i)];
      if (!places.index.empty()) std::memcpy(&slot[static_cast<size_t>(call.index_offset + 8 * i)], &row, 8);
      // A view belongs to the place in the batch; tests that gather have the expected rows in that order too.
      if (tail.geometry)
        std::memcpy(&slot[static_cast<size_t>(call.geometry_offset + 32 * i)],
                    views[static_cast<size_t>(row)].data(), 32);
    }
    const std::vector<std::byte> back = on_device(slot, call);
    Rows out;
    for (int64_t i = 0; i < count; ++i) {
      const auto begin = back.begin() + call.target_offset + i * tail.out_bytes();
      out.emplace_back(begin, begin + tail.out_bytes());
    }
    // Nothing before the rows, and nothing behind them, was touched.
    EXPECT_TRUE(std::equal(slot.begin(), slot.begin() + call.target_offset, back.begin()));
    const int64_t used = call.target_offset + tail.out_bytes() * count;
    EXPECT_TRUE(std::equal(slot.begin() + used, slot.end(), back.begin() + used));
    return out;
  }

 private:
  std::vector<std::byte> on_device(const std::vector<std::byte>& slot, const TailCall& call) {
    const CurrentContext current(*context_);
    const CudaDriver& driver = context_->driver();
    std::vector<std::byte> back(slot.size());
    const CudaStream stream = context_->side(0).stream;
    CudaAddress address = 0;
    EXPECT_EQ(driver.cuMemAlloc(&address, slot.size()), kCudaSuccess);
    EXPECT_EQ(driver.cuMemcpyHtoDAsync(address, slot.data(), slot.size(), stream), kCudaSuccess);
    std::byte* const memory = reinterpret_cast<std::byte*>(address);
    Status status = kernels_.prepare(*context_, memory, {&call, 1});
    if (status.is_ok()) status = kernels_.launch(*context_, stream, memory, call);
    EXPECT_TRUE(status.is_ok()) << status.message();
    const CudaCode ended = copy_back_(back.data(), address, back.size(), stream);
    EXPECT_EQ(ended, kCudaSuccess);
    EXPECT_EQ(driver.cuStreamSynchronize(stream), ended);
    EXPECT_EQ(driver.cuMemFree(address), kCudaSuccess);
    return back;
  }

  bool fake_ = true;
  CopyBack copy_back_ = nullptr;
  std::shared_ptr<CudaContext> context_;
  KernelSet kernels_;
};

}  // namespace dataline::tests
