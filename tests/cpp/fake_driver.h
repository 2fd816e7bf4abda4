// The fake CUDA driver, as a consumer in the same process sees it: a stream of its own and copies back to the host. Real
// entry points, looked up in the library that the loader opens too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <dataline.hpp>
#include <string>
#include <vector>

namespace dataline::cpp_tests {

class FakeDriver {
 public:
  FakeDriver() : library_(dlopen(path(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) ADD_FAILURE() << dlerror();
  }
  static const char* path() { return DATALINE_FAKE_CUDA; }

  // Options of a loader on a device of it.
  static Options options(const std::string& device = "cuda:0") {
    return {{"device", device}, {"cuda_library", path()}};
  }

  // A stream in the primary context of a device, which loaders use too.
  void* make_stream(int ordinal = 0) const {
    const Current current(*this, ordinal);
    void* stream = nullptr;
    EXPECT_EQ(call<int(void**, unsigned)>("cuStreamCreate")(&stream, 1), 0);
    return stream;
  }

  // The bytes of a view, read in `stream` and waited for.
  std::vector<std::byte> read(const View& view, void* stream) const {
    const Current current(*this, view.device_index());
    std::vector<std::byte> bytes(static_cast<size_t>(view.bytes()));
    const auto from = reinterpret_cast<uint64_t>(view.data());
    EXPECT_EQ(call<int(void*, uint64_t, size_t, void*)>("cuMemcpyDtoHAsync_v2")(bytes.data(), from,
                                                                                bytes.size(), stream),
              0);
    EXPECT_EQ(call<int(void*)>("cuStreamSynchronize")(stream), 0);
    return bytes;
  }

 private:
  // The device's primary context, current while this lives.
  class Current {
   public:
    Current(const FakeDriver& driver, int ordinal) : driver_(driver) {
      void* context = nullptr;
      EXPECT_EQ(driver.call<int(unsigned)>("cuInit")(0), 0);
      EXPECT_EQ(driver.call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, ordinal), 0);
      EXPECT_EQ(driver.call<int(void*)>("cuCtxPushCurrent_v2")(context), 0);
    }
    ~Current() {
      void* context = nullptr;
      driver_.call<int(void**)>("cuCtxPopCurrent_v2")(&context);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const FakeDriver& driver_;
  };

  template <typename Function>
  Function* call(const char* name) const {
    void* const symbol = dlsym(library_, name);
    if (symbol == nullptr) ADD_FAILURE() << "the fake driver has no " << name;
    return reinterpret_cast<Function*>(symbol);
  }

  void* library_;
};

}  // namespace dataline::cpp_tests
