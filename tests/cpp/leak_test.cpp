// A long life: 10,000 batches and 200 loaders leave memory, threads and descriptors as they were.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::leak_test {
namespace {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t entries(const char* folder) {
  int64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.path().empty() ? 0 : 1;
  return count;
}

// Every way of taking batches, with a file, a lent array and a reader behind it.
struct Jobs {
  TempDir dir;
  std::string file = dir.write("rows.bin", std::string(64 * 256, 'r'));
  std::vector<uint64_t> lent = count_to(256);
  std::atomic<int> returned{0}, alive{0};

  Dataset dataset() {
    return Dataset::zip({{"row", Dataset("raw:" + file + "?dtype=u8&shape=64")},
                         {"lent", Dataset::borrow_arrays({Array("data", lent)}, Loan(&returned, &alive))},
                         {"read", Dataset::from_reader({Field::dense<uint64_t>("data")}, 256,
                                                       [](int64_t index, Record& record) {
                                                         if (index == 77)
                                                           throw std::runtime_error("a bad one");
                                                         record.put(0, static_cast<uint64_t>(index));
                                                       })}});
  }

  void loader_life() {
    Loader loader(dataset(),
                  {{"batch_size", 16}, {"num_workers", 2}, {"on_error", "replace"}, {"shuffle", "full"}});
    loader.wait_handle();
    std::vector<Batch> held;
    for (const Batch& batch : loader) {
      held.push_back(batch);
      if (held.size() == 6) break;
    }
    for (Batch batch : loader)
      static_cast<void>(batch["row"].as<uint8_t>()[0]);  // NOLINT(performance-for-range-copy)
    loader.load_state(loader.save_state());
    EXPECT_FALSE(Dataset::try_open("idx:/no/such/file"));
    EXPECT_EQ(thrown_by([&] { loader.seek(-1, 0); }).code(), DL_ERR_OUT_OF_RANGE);
    loader = Loader();
  }
};

TEST(CppLeak, TenThousandBatchesAndTwoHundredLoadersLeaveNothing) {
  Jobs jobs;
  const auto batches = [&](int64_t count) {
    Loader loader(jobs.dataset(), {{"batch_size", 16}, {"num_workers", 2}, {"on_error", "replace"}});
    while (count > 0) {
      for (Batch batch : loader) {  // NOLINT(performance-for-range-copy): a copy is a reference
        static_cast<void>(batch["lent"].as<uint64_t>()[0]);
        if (--count == 0) break;
      }
    }
  };
  for (int i = 0; i < 40; ++i) jobs.loader_life();  // heaps, stacks and tables reach their size
  batches(1000);
  const int64_t memory = resident_bytes(), threads = entries("/proc/self/task"),
                files = entries("/proc/self/fd");

  for (int i = 0; i < 200; ++i) jobs.loader_life();
  batches(10000);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_EQ(jobs.alive, 0);
  EXPECT_EQ(jobs.returned, 242);
  // 200 lives that kept even one page each would be 800 KiB.
  const int64_t growth = resident_bytes() - memory;
  RecordProperty("growth_bytes", std::to_string(growth));
  if (!kSanitized) {
    EXPECT_LT(growth, int64_t{512} << 10);
  }
}

}  // namespace
}  // namespace dataline::cpp_tests::leak_test
