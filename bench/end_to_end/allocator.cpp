// mimalloc against glibc, through the allocator table: the life of a loader, and its steady state.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

#if defined(DATALINE_HAS_MIMALLOC)
#include <mimalloc.h>
#endif

namespace bench {

namespace {

constexpr int64_t kAllocatorBatch = 256;

void* glibc_allocate(void*, size_t bytes, size_t alignment, int32_t) {
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void glibc_release(void*, void* memory, size_t, size_t, int32_t) { std::free(memory); }

#if defined(DATALINE_HAS_MIMALLOC)
void* mimalloc_allocate(void*, size_t bytes, size_t alignment, int32_t) {
  return mi_malloc_aligned(bytes, alignment);
}
void mimalloc_release(void*, void* memory, size_t, size_t, int32_t) { mi_free(memory); }
#endif

dl_allocator table_of(void* (*allocate)(void*, size_t, size_t, int32_t),
                      void (*release)(void*, void*, size_t, size_t, int32_t)) {
  dl_allocator table{};
  table.struct_size = sizeof table;
  table.allocate = allocate;
  table.release = release;
  return table;
}

OptionList job_options(int workers) {
  return {{"batch_size", std::to_string(kAllocatorBatch)},
          {"shuffle", "full"},
          {"num_workers", std::to_string(workers)}};
}

// The life of a loader: open, create, first batch, destroy.
void measure_lives(const std::string& uri, const dl_allocator* table, double seconds, const std::string& name,
                   Report& report) {
  std::vector<double> life_us;
  const int64_t deadline = now_ns() + static_cast<int64_t>(seconds * 1e9);
  do {
    const int64_t begin = now_ns();
    {
      Job job(uri, job_options(1), table);
      dl_batch_release(job.next());
    }
    life_us.push_back(static_cast<double>(now_ns() - begin) * 1e-3);
  } while (now_ns() < deadline);
  report.set(name, "life_us", median(life_us));
}

}  // namespace

std::vector<Variant> allocator(const Settings& settings) {
  const std::string file = random_rows_file(settings.data_dir, settings.small ? 6'000 : 60'000, 784);
  const std::string uri = "npy:" + file;
  struct Candidate {
    std::string name;
    std::shared_ptr<dl_allocator> table;
  };
  std::vector<Candidate> candidates = {
      {"dataline own", nullptr},
      {"dataline on glibc", std::make_shared<dl_allocator>(table_of(glibc_allocate, glibc_release))}};
#if defined(DATALINE_HAS_MIMALLOC)
  candidates.push_back({"dataline on mimalloc",
                        std::make_shared<dl_allocator>(table_of(mimalloc_allocate, mimalloc_release))});
#endif
  std::vector<Variant> variants;
  for (const Candidate& candidate : candidates) {
    auto job = std::make_shared<Job>(uri, job_options(1), candidate.table.get());
    variants.push_back({candidate.name, [job, uri, table = candidate.table](const std::string& name,
                                                                            double seconds, Report& report) {
                          report_throughput(report, name, consume(*job, seconds / 2));
                          measure_lives(uri, table.get(), seconds / 2, name, report);
                        }});
  }
  return variants;
}

}  // namespace bench
