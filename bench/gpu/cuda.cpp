// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/cuda.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "bench/end_to_end/measure.h"

namespace bench {

namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kPortable = 1;

}  // namespace

void* Cuda::find(const char* function) const {
  void* found = dlsym(library_, function);
  if (found == nullptr) fail(std::string("the CUDA driver has no ") + function);
  return found;
}

// Integers are given in the width that the driver declares.
template <typename... Arguments>
void Cuda::call(const char* function, Arguments... arguments) const {
  const auto entry = reinterpret_cast<int (*)(Arguments...)>(find(function));
  const int code = entry(arguments...);
  if (code != 0) fail(std::string(function) + " returned " + std::to_string(code));
}

std::unique_ptr<Cuda> Cuda::open(const std::string& library, std::string& why_not) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why_not = dlerror();
    return nullptr;
  }
  std::unique_ptr<Cuda> cuda(new Cuda);
  cuda->library_ = handle;
  const int started = reinterpret_cast<int (*)(unsigned)>(cuda->find("cuInit"))(0);
  int count = 0;
  if (started == 0) cuda->call("cuDeviceGetCount", &count);
  if (count == 0) {
    why_not = library + ": " + (started == 0 ? "no device" : "cuInit returned " + std::to_string(started));
    cuda->library_ = nullptr;
    return nullptr;
  }
  char name[256] = {};
  int version = 0;
  void* context = nullptr;
  cuda->call("cuDeviceGet", &cuda->device_, int{0});
  cuda->call("cuDeviceGetName", static_cast<char*>(name), int{sizeof(name) - 1}, cuda->device_);
  cuda->call("cuDriverGetVersion", &version);
  cuda->call("cuDevicePrimaryCtxRetain", &context, cuda->device_);
  cuda->call("cuCtxSetCurrent", context);
  cuda->name_ = name;
  cuda->fake_ = cuda->name_.rfind("Fake", 0) == 0;  // by its name: in a driver's place it has no controls
  cuda->version_ = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return cuda;
}

Cuda::~Cuda() {
  if (library_ == nullptr) return;
  call("cuCtxSetCurrent", static_cast<void*>(nullptr));
  call("cuDevicePrimaryCtxRelease_v2", device_);
}

std::string Cuda::misuse() const {
  if (dlsym(library_, "fake_cuda_misuses") == nullptr) return {};
  const auto count = reinterpret_cast<int64_t (*)()>(find("fake_cuda_misuses"));
  const auto text = reinterpret_cast<const char* (*)(int64_t)>(find("fake_cuda_misuse"));
  return count() > 0 ? text(0) : std::string();
}

void* Cuda::make_stream() const {
  void* stream = nullptr;
  call("cuStreamCreate", &stream, kNonBlocking);
  return stream;
}

void Cuda::end_stream(void* stream) const {
  synchronize(stream);
  call("cuStreamDestroy_v2", stream);
}

void Cuda::synchronize(void* stream) const { call("cuStreamSynchronize", stream); }

void* Cuda::make_event() const {
  void* event = nullptr;
  call("cuEventCreate", &event, unsigned{0});
  return event;
}

void Cuda::end_event(void* event) const { call("cuEventDestroy_v2", event); }

void Cuda::record(void* event, void* stream) const { call("cuEventRecord", event, stream); }

double Cuda::seconds_between(void* begin, void* end) const {
  float milliseconds = 0;
  call("cuEventElapsedTime", &milliseconds, begin, end);
  return static_cast<double>(milliseconds) * 1e-3;
}

uint64_t Cuda::allocate(int64_t bytes) const {
  uint64_t address = 0;
  call("cuMemAlloc_v2", &address, static_cast<size_t>(bytes));
  return address;
}

void Cuda::release(uint64_t address) const { call("cuMemFree_v2", address); }

void Cuda::pin(void* memory, int64_t bytes) const {
  call("cuMemHostRegister_v2", memory, static_cast<size_t>(bytes), kPortable);
}

void Cuda::unpin(void* memory) const { call("cuMemHostUnregister", memory); }

void Cuda::copy_to_device(uint64_t to, const void* from, int64_t bytes, void* stream) const {
  call("cuMemcpyHtoDAsync_v2", to, from, static_cast<size_t>(bytes), stream);
}

void Cuda::copy_on_device(uint64_t to, uint64_t from, int64_t bytes, void* stream) const {
  call("cuMemcpyDtoDAsync_v2", to, from, static_cast<size_t>(bytes), stream);
}

void Cuda::set(uint64_t to, int64_t bytes, void* stream) const {
  call("cuMemsetD8Async", to, static_cast<unsigned char>(1), static_cast<size_t>(bytes), stream);
}

Buffers::Buffers(const Cuda& cuda, int64_t bytes, int count) : cuda_(cuda), bytes_(bytes), count_(count) {
  constexpr size_t kPage = size_t{2} << 20;  // as the loader's slots
  const auto all = static_cast<size_t>(bytes * count);
  host_ = static_cast<std::byte*>(std::aligned_alloc(kPage, (all + kPage - 1) / kPage * kPage));
  if (host_ == nullptr) fail("no memory for buffers of " + std::to_string(bytes) + " bytes");
  std::memset(host_, 1, all);
  cuda_.pin(host_, bytes * count);
  device_ = cuda_.allocate(bytes * count);
}

Buffers::~Buffers() {
  cuda_.release(device_);
  cuda_.unpin(host_);
  std::free(host_);
}

}  // namespace bench
