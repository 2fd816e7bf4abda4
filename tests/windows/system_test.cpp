// Memory, limits, waiting and what Windows lacks.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/thread_wait.h"
#include "core/memory/machine_limits.h"
#include "core/memory/mapped_file.h"
#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace dataline::system_test {
namespace {

bool is_zero(const std::byte* data, int64_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte value) { return value == std::byte{0}; });
}

TEST(WindowsPages, AreAlignedZeroedAndOnesOwnInManyThreads) {
  constexpr int64_t kBytes = 300'000;
  std::vector<Thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.push_back(Thread::start("pages", [&good, t] {
                        for (int round = 0; round < 50; ++round) {
                          std::byte* data = map_huge_pages(kBytes);
                          const bool aligned = reinterpret_cast<uintptr_t>(data) % kHugePageBytes == 0;
                          if (data == nullptr || !aligned || !is_zero(data, kBytes)) return;
                          std::fill(data, data + kBytes, static_cast<std::byte>(t + 1));
                          if (!prefault(data, kBytes).is_ok() ||
                              data[kBytes - 1] != static_cast<std::byte>(t + 1))
                            return;
                          unmap_huge_pages(data, kBytes);
                        }
                        good.fetch_add(1);
                      }).take());
  }
  threads.clear();
  EXPECT_EQ(good.load(), 4);
}

TEST(WindowsPages, DiscardedOnesStayWritable) {
  const int64_t bytes = 8 * page_bytes();
  std::byte* data = map_address_space(bytes);
  ASSERT_NE(data, nullptr);
  std::fill(data, data + bytes, std::byte{7});
  discard_pages(data + 100, bytes - 200);
  EXPECT_EQ(data[99], std::byte{7});
  EXPECT_EQ(data[bytes - 1], std::byte{7});
  std::fill(data, data + bytes, std::byte{9});
  EXPECT_EQ(data[bytes / 2], std::byte{9});
  unmap_huge_pages(data, bytes);
}

TEST(WindowsPages, MoreThanThereIsIsRefused) { EXPECT_EQ(map_huge_pages(int64_t{1} << 60), nullptr); }

TEST(WindowsLimits, AreThoseOfTheMachine) {
  EXPECT_EQ(memory_limit().origin, "machine");
  EXPECT_GT(memory_limit().bytes, int64_t{64} << 20);
  EXPECT_GE(available_cpus(), 1);
  DWORD_PTR mine = 0, all = 0;
  ASSERT_NE(GetProcessAffinityMask(GetCurrentProcess(), &mine, &all), 0);
  ASSERT_NE(SetProcessAffinityMask(GetCurrentProcess(), mine & ~(mine - 1)), 0);
  EXPECT_EQ(available_cpus(), 1);
  SetProcessAffinityMask(GetCurrentProcess(), mine);
}

TEST(WindowsFaultGuard, IsRefusedByName) {
  const TempDir dir;
  OpenContext context;
  context.memory = HostMemory::create({});
  context.io = IoMode::kMmap;
  context.fault_guard = true;
  const Result<MappedFile> file = MappedFile::open(dir.write("data", "text"), context);
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(code_name(file.status().code()), "DL_ERR_UNSUPPORTED");
  EXPECT_TRUE(file.status().message().starts_with("fault_guard=true")) << file.status().message();
}

TEST(WindowsEvent, IsSignalledFromRaiseToLower) {
  const ThreadEvent event = ThreadEvent::create().take();
  const auto handle = reinterpret_cast<HANDLE>(event.handle());
  const auto look = [&] { return WaitForSingleObject(handle, 0); };
  EXPECT_EQ(look(), static_cast<DWORD>(WAIT_TIMEOUT));
  event.raise();
  event.raise();
  EXPECT_EQ(look(), WAIT_OBJECT_0);
  EXPECT_EQ(look(), WAIT_OBJECT_0);
  event.lower();
  EXPECT_EQ(look(), static_cast<DWORD>(WAIT_TIMEOUT));
}

TEST(WindowsThread, TellsItsCpuTime) {
  std::atomic<bool> end{false};
  Thread thread = Thread::start("busy", [&] {
                    while (!end.load()) spin_pause();
                  }).take();
  const int64_t begin_ns = monotonic_ns();
  int64_t cpu_ns = 0;
  while (cpu_ns == 0 && monotonic_ns() - begin_ns < 10'000'000'000) cpu_ns = thread.cpu_ns();
  end.store(true);
  EXPECT_GT(cpu_ns, 0);
  EXPECT_LT(cpu_ns, 10'000'000'000);
}

}  // namespace
}  // namespace dataline::system_test
