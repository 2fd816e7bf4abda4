// The same tests on a real driver: DATALINE_CUDA_LIBRARY=libcuda.so.1 names it to the library under test, and the same in
// LD_PRELOAD to a test's own calls. A test that goes on to need what only the fake can do ends there, with 77; one that has
// failed before ends there too, but as failed.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/fake_cuda/world.h"

namespace fake_cuda {
namespace {
bool (*test_failed)() = nullptr;
}

void need_fake(const char* control) {
  if (std::getenv("DATALINE_CUDA_LIBRARY") == nullptr) return;
  if (test_failed != nullptr && test_failed()) {
    std::printf("%s: a real driver cannot do that; the test failed before\n", control);
    std::fflush(stdout);
    _exit(1);
  }
  constexpr int kSkipped = 77;
  std::printf("skipped: %s: a real driver cannot do that\n", control);
  std::fflush(stdout);
  _exit(kSkipped);
}

}  // namespace fake_cuda

const char* fake_cuda_library() {
  const char* real = std::getenv("DATALINE_CUDA_LIBRARY");
  if (real != nullptr) return real;
  Dl_info self{};
  return dladdr(reinterpret_cast<void*>(&fake_cuda_library), &self) != 0 ? self.dli_fname : "";
}

void fake_cuda_ask_whether_failed(bool (*failed)()) { fake_cuda::test_failed = failed; }

void fake_cuda_only() { fake_cuda::need_fake(__func__); }
