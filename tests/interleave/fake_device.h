// A device whose copies are done when the scheduler says so. Consumers queue their work and release at once, so that a
// slot's host half must not change until then, whoever still looks.
// Takes the place of core/device's open_device() in these programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/device/device.h"
#include "tests/interleave/scheduler.h"

namespace dataline::interleave {

// By the schedule's options. Waits for copies fail now and then, and nothing is known of the copies; the device is lost
// at one of its operations.
inline bool waits_fail = false, device_dies = false;

class Life {
 public:
  bool lost() const { return lost_.load(); }
  // One operation of the driver.
  Status operate() {
    if (!lost() && device_dies && draw(12) == 0) lost_.store(true);
    return lost() ? error(Code::kDeviceLost, "the device is gone") : Status::ok();
  }

 private:
  Atomic<bool> lost_{false};
};

class FakeSlot final : public DeviceSlot {
 public:
  FakeSlot(int64_t bytes, std::shared_ptr<Life> life)
      : memory_(static_cast<size_t>(bytes)), life_(std::move(life)) {}
  ~FakeSlot() override { land(); }
  std::byte* memory() const override { return const_cast<std::byte*>(memory_.data()); }

  Status send(const std::byte* host, std::span<const CopyRange> copies, std::span<const TailCall>,
              const DeviceTiming& = {}) override {
    DL_RETURN_IF_ERROR(life_->operate());
    land();
    host_ = host;
    copies_.assign(copies.begin(), copies.end());
    queued_.clear();
    for (const CopyRange& range : copies_)
      queued_.insert(queued_.end(), host + range.offset, host + range.offset + range.bytes);
    in_flight_.store(true);
    return Status::ok();
  }
  bool copies_done() override {
    if (life_->lost()) return true;
    if (in_flight_.load() && draw(3) == 0) land();
    return !in_flight_.load();
  }
  // Released in a stream that is being captured, now and then: whoever asks again finds the capture over.
  bool settle() override { return life_->lost() || draw(8) != 0; }
  Status wait_for_copies() override {
    for (uint64_t looks = draw(4); looks > 0 && in_flight_.load(); --looks) pause();
    DL_RETURN_IF_ERROR(life_->operate());
    if (waits_fail && draw(16) == 0) return error(Code::kIo, "the device says no");
    land();
    return Status::ok();
  }
  Status wait(void*) override {
    DL_RETURN_IF_ERROR(life_->operate());
    return land(), Status::ok();
  }
  Status release(void*) override { return Status::ok(); }
  void done() noexcept override {}

 private:
  void land() {
    if (!in_flight_.exchange(false) || life_->lost()) return;
    const std::byte* queued = queued_.data();
    for (const CopyRange& range : copies_) {
      if (std::memcmp(host_ + range.offset, queued, static_cast<size_t>(range.bytes)) != 0) {
        fail("a slot was written while its copies were in flight");
      }
      queued += range.bytes;
      std::memcpy(memory_.data() + range.offset, host_ + range.offset, static_cast<size_t>(range.bytes));
    }
  }
  std::vector<std::byte> memory_;
  const std::byte* host_ = nullptr;
  std::vector<CopyRange> copies_;
  std::vector<std::byte> queued_;  // as they were sent
  std::shared_ptr<Life> life_;
  Atomic<bool> in_flight_{false};
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int32_t type) : type_(type) {}
  int32_t type() const override { return type_; }
  int32_t index() const override { return 0; }
  const DeviceInfo& info() const override { return info_; }
  Result<int64_t> pin(std::byte*, int64_t, int64_t count) override { return count; }
  void unpin() noexcept override {}
  bool runs(const Tail&) const override { return false; }
  Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) override {
    std::vector<std::unique_ptr<DeviceSlot>> slots;
    for (int64_t s = 0; s < count; ++s) slots.push_back(std::make_unique<FakeSlot>(bytes, life_));
    return slots;
  }
  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) override {
    auto copy = std::make_unique<FakeSlot>(bytes, life_);
    DL_RETURN_IF_ERROR(from.wait(nullptr));
    std::memcpy(copy->memory(), from.memory(), static_cast<size_t>(bytes));
    return std::unique_ptr<DeviceSlot>(std::move(copy));
  }
  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t) override {
    return error(Code::kUnsupported, "no blocks");
  }
  int64_t device_bytes() const override { return 0; }
  bool lost() const override { return life_->lost(); }

 private:
  int32_t type_;
  DeviceInfo info_;
  std::shared_ptr<Life> life_ = std::make_shared<Life>();
};

}  // namespace dataline::interleave
