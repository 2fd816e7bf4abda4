// The part of the CUDA driver that a consumer of batches needs, opened at run time: streams, device memory, copies. Needs no
// toolkit to build. Any driver error ends the program with the name of the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

class Cuda {
 public:
  // Device 0 of the driver in `library`, its primary context current in this thread. Null with a reason if there is none.
  static std::unique_ptr<Cuda> open(const std::string& library, std::string& why_not);
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  const std::string& name() const { return name_; }        // "NVIDIA H100 80GB HBM3"
  const std::string& version() const { return version_; }  // of CUDA: "13.0"
  bool is_fake() const { return fake_; }
  // The first misuse that the fake driver detected; empty: none, or it is in a driver's place and cannot be asked.
  std::string misuse() const;

  void* make_stream() const;  // non-blocking
  void end_stream(void* stream) const;
  void synchronize(void* stream) const;

  void* make_event() const;  // one that tells the time
  void end_event(void* event) const;
  void record(void* event, void* stream) const;
  double seconds_between(void* begin, void* end) const;  // both have happened

  uint64_t allocate(int64_t bytes) const;
  void release(uint64_t address) const;
  void pin(void* memory, int64_t bytes) const;
  void unpin(void* memory) const;

  void copy_to_device(uint64_t to, const void* from, int64_t bytes, void* stream) const;
  void copy_on_device(uint64_t to, uint64_t from, int64_t bytes, void* stream) const;
  void set(uint64_t to, int64_t bytes, void* stream) const;

 private:
  Cuda() = default;
  template <typename... Arguments>
  void call(const char* function, Arguments... arguments) const;
  void* find(const char* function) const;

  void* library_ = nullptr;
  int device_ = 0;
  std::string name_, version_;
  bool fake_ = false;
};

// Page-locked host buffers and device buffers of one size, side by side.
class Buffers {
 public:
  Buffers(const Cuda& cuda, int64_t bytes, int count);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  const std::byte* host(int64_t i) const { return host_ + i % count_ * bytes_; }
  uint64_t device(int64_t i) const { return device_ + static_cast<uint64_t>(i % count_ * bytes_); }

 private:
  const Cuda& cuda_;
  int64_t bytes_;
  int count_;
  std::byte* host_ = nullptr;
  uint64_t device_ = 0;
};

}  // namespace bench
