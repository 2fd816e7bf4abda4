// What the tests of the device room share: a fresh fake driver each, host slots, a consumer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/device/cuda_driver.h"
#include "core/device/device.h"
#include "core/memory/pages.h"
#include "tests/support/fake_cuda/driver_api.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_cuda/on_real_driver.h"

namespace dataline {

// The first calls of opening a device: each entry point is looked up, and the version asked for. No device is known then.
#define DL_COUNT(name, version, parameters) +1
constexpr int64_t kLookups = DL_CUDA_ENTRY_POINTS(DL_COUNT) + 1;
#undef DL_COUNT

inline std::vector<std::string> misuses() {
  std::vector<std::string> all;
  for (int64_t i = 0; i < fake_cuda_misuses(); ++i) all.emplace_back(fake_cuda_misuse(i));
  return all;
}

// A slot as a worker's thread has it: each of a worker's calls is made inside a DeviceThread, which the test's own thread, a
// consumer's, is not.
class WorkersSlot final : public DeviceSlot {
 public:
  WorkersSlot(std::shared_ptr<Device> device, std::unique_ptr<DeviceSlot> slot)
      : device_(std::move(device)), slot_(std::move(slot)) {}
  DeviceSlot& slot() { return *slot_; }

  std::byte* memory() const override { return slot_->memory(); }
  Status send(const std::byte* host, std::span<const CopyRange> copies, std::span<const TailCall> calls,
              const DeviceTiming& timing = {}) override {
    const DeviceThread here(*device_);
    return slot_->send(host, copies, calls, timing);
  }
  bool copies_done() override {
    const DeviceThread here(*device_);
    return slot_->copies_done();
  }
  bool settle() override {
    const DeviceThread here(*device_);
    return slot_->settle();
  }
  Status wait_for_copies() override {
    const DeviceThread here(*device_);
    return slot_->wait_for_copies();
  }
  Status wait(void* stream) override { return slot_->wait(stream); }
  Status release(void* stream) override { return slot_->release(stream); }
  void passed_on() noexcept override { slot_->passed_on(); }
  void done() noexcept override { slot_->done(); }

 private:
  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceSlot> slot_;
};

// The device, with such slots.
class WorkersDevice final : public Device {
 public:
  explicit WorkersDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Device& device() { return *device_; }

  int32_t type() const override { return device_->type(); }
  int32_t index() const override { return device_->index(); }
  const DeviceInfo& info() const override { return device_->info(); }
  Result<int64_t> pin(std::byte* first, int64_t stride, int64_t count) override {
    return device_->pin(first, stride, count);
  }
  void unpin() noexcept override { device_->unpin(); }
  bool runs(const Tail& tail) const override { return device_->runs(tail); }
  Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) override {
    DL_ASSIGN_OR_RETURN(auto slots, device_->make_slots(count, bytes));
    for (auto& slot : slots) slot = std::make_unique<WorkersSlot>(device_, std::move(slot));
    return slots;
  }
  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) override {
    DL_ASSIGN_OR_RETURN(auto copy, device_->copy_slot(static_cast<WorkersSlot&>(from).slot(), bytes));
    return std::unique_ptr<DeviceSlot>(std::make_unique<WorkersSlot>(device_, std::move(copy)));
  }
  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t bytes) override {
    return device_->make_block(bytes);
  }
  int64_t device_bytes() const override { return device_->device_bytes(); }
  bool lost() const override { return device_->lost(); }

 private:
  std::shared_ptr<Device> device_;
};

inline Result<std::shared_ptr<Device>> open_for_workers(const DeviceRequest& request) {
  DL_ASSIGN_OR_RETURN(auto device, open_device(request));
  return std::shared_ptr<Device>(std::make_shared<WorkersDevice>(std::move(device)));
}

// Each test begins with a driver nobody has used, and ends with one that was not misused and has nothing left alive.
class FakeCuda : public testing::Test {
 protected:
  static constexpr int kNotInitialized = 3;  // nobody has called cuInit
  FakeCuda() { fake_cuda_reset(); }
  ~FakeCuda() override {
    if (expect_no_misuse_) {
      EXPECT_THAT(misuses(), testing::IsEmpty());
    }
    EXPECT_EQ(fake_cuda_calls_after_loss(), 0);
    CUcontext current = nullptr;
    if (!expect_leaks_) {
      const int code = cuCtxGetCurrent(&current);
      EXPECT_TRUE(code == 0 || code == kNotInitialized) << code;
      EXPECT_EQ(current, nullptr) << "a context was left current";
    }
    for (const char* kind : {"contexts", "streams", "events", "modules", "allocations", "registrations"}) {
      if (!expect_leaks_) {
        EXPECT_EQ(fake_cuda_live(kind), 0) << kind;
      }
    }
    fake_cuda_reset();
  }

  // A lost device's things are leaked.
  void expect_leaks() { expect_leaks_ = true; }
  void expect_misuse() { expect_no_misuse_ = false; }

  static DeviceRequest request(std::string_view name = "cuda:0") {
    DeviceRequest asked;
    asked.name = name;
    asked.cuda_library = FAKE_CUDA_LIBRARY;
    return asked;
  }
  static std::shared_ptr<Device> open(std::string_view name = "cuda:0") {
    auto device = open_for_workers(request(name));
    EXPECT_TRUE(device.is_ok()) << device.status().message();
    return device.is_ok() ? device.take() : nullptr;
  }

 private:
  bool expect_no_misuse_ = true;
  bool expect_leaks_ = false;
};

// Page-aligned host memory of slots that lie side by side.
class HostSlots {
 public:
  HostSlots(int64_t count, int64_t bytes) : stride_((bytes + 4095) / 4096 * 4096), count_(count) {
    memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<size_t>(stride_ * count)));
    std::memset(memory_, 0, static_cast<size_t>(stride_ * count));
  }
  ~HostSlots() { std::free(memory_); }
  HostSlots(const HostSlots&) = delete;
  HostSlots& operator=(const HostSlots&) = delete;

  std::byte* slot(int64_t i) { return memory_ + i * stride_; }
  int64_t stride() const { return stride_; }
  int64_t count() const { return count_; }
  void fill(int64_t i, int value) { std::memset(slot(i), value, static_cast<size_t>(stride_)); }

 private:
  std::byte* memory_ = nullptr;
  int64_t stride_, count_;
};

// A consumer with a stream of its own, that reads batches by copying them to the host in that stream.
class Consumer {
 public:
  explicit Consumer(int device = 0) : device_(device) {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, device_), 0);
    enter();
    EXPECT_EQ(cuStreamCreate(&stream_, 0), 0);
    leave();
  }
  ~Consumer() {
    enter();
    cuStreamSynchronize(stream_);
    cuStreamDestroy(stream_);
    leave();
    cuDevicePrimaryCtxRelease(device_);
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  CUstream stream() const { return stream_; }
  // Queues a copy of device memory, in the consumer's stream; what it finds is there after finish().
  void read(const std::byte* memory, size_t bytes, std::byte* into) {
    enter();
    EXPECT_EQ(cuMemHostRegister(into, bytes, 0), 0);
    registered_.push_back(into);
    EXPECT_EQ(cuMemcpyDtoHAsync(into, reinterpret_cast<CUdeviceptr>(memory), bytes, stream_), 0);
    leave();
  }
  void finish() {
    enter();
    EXPECT_EQ(cuStreamSynchronize(stream_), 0);
    for (std::byte* into : registered_) EXPECT_EQ(cuMemHostUnregister(into), 0);
    registered_.clear();
    leave();
  }
  // Waits for the batch, reads its first bytes, and returns the value they all have, or -1.
  int value_of(DeviceSlot& slot, size_t bytes) {
    EXPECT_TRUE(slot.wait(stream_).is_ok());
    std::vector<std::byte> seen(bytes);
    read(slot.memory(), bytes, seen.data());
    finish();
    for (std::byte b : seen) {
      if (b != seen[0]) return -1;
    }
    return static_cast<int>(seen[0]);
  }

 private:
  void enter() { EXPECT_EQ(cuCtxPushCurrent(context_), 0); }
  void leave() {
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent(&popped), 0);
  }

  int device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::vector<std::byte*> registered_;
};

inline std::vector<CopyRange> whole(int64_t bytes) { return {{0, bytes}}; }

}  // namespace dataline
