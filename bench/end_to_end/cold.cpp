// Shuffled records of 3 KiB from a file that is not in memory: Dataline, direct reads with 128 in flight
// (io_uring, or threads with pread where the machine forbids io_uring), and plain page faults.
//
// cold_window: a whole epoch of such records in windows of blocks, beside long sequential reads of the same file.
//
// The file is dropped with POSIX_FADV_DONTNEED before each measurement; mincore shows how much remained.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

#if defined(DATALINE_HAS_LIBURING)
#include <liburing.h>
#endif

namespace bench {

namespace {

constexpr int64_t kRecordBytes = 3072;
constexpr int64_t kSectorBytes = 512;  // 3072 is six of them, so that direct reads fetch nothing else
constexpr int64_t kDepth = 128;
constexpr int64_t kColdBatch = 64;

struct ColdFile {
  std::string path;
  std::vector<uint32_t> order;  // of all records
  int64_t min_records = 0;      // per measurement, so that start-up does not matter
};

void report_reads(Report& report, const std::string& name, int64_t records, int64_t elapsed_ns,
                  int64_t cpu_ns) {
  const double bytes = static_cast<double>(records * kRecordBytes);
  report.set(name, "records_per_s", static_cast<double>(records) * 1e9 / static_cast<double>(elapsed_ns));
  report.set(name, "mb_per_s", bytes * 1e3 / static_cast<double>(elapsed_ns));
  report.set(name, "cpu_s_per_gb", static_cast<double>(cpu_ns) / bytes);
}

void drop_checked(const ColdFile& file, const std::string& name, Report& report) {
  drop_from_cache(file.path);
  report.set(name, "resident_before_percent", 100 * resident_share(file.path));
}

// Runs until `seconds` are over and enough records were read; `read_some` returns how many it read.
template <typename ReadSome>
void measure(const ColdFile& file, const std::string& name, double seconds, Report& report,
             ReadSome read_some) {
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t begin = now_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  int64_t records = 0;
  while (records < file.min_records || now_ns() < deadline) {
    const int64_t more = read_some(records);
    if (more == 0) break;
    records += more;
  }
  report_reads(report, name, records, now_ns() - begin, process_cpu_ns() - cpu_begin);
}

int open_cold(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (fd < 0) fail("opening " + path + ": " + std::strerror(errno));
  return fd;
}
int open_direct(const std::string& path) { return open_cold(path, O_DIRECT); }

void dataline_round(const ColdFile& file, int workers, const std::string& name, double seconds, int64_t seed,
                    Report& report) {
  drop_checked(file, name, report);
  // Includes opening: dataset and loader start without knowledge of the file.
  Job job("raw:" + file.path + "?dtype=u8&shape=" + std::to_string(kRecordBytes) + "&partial=ignore",
          {{"batch_size", std::to_string(kColdBatch)},
           {"shuffle", "full"},
           {"seed", std::to_string(seed)},
           {"num_workers", std::to_string(workers)}});
  measure(file, name, seconds, report, [&](int64_t) {
    dl_batch* batch = job.next();
    const int64_t rows = batch_rows(batch);
    dl_batch_release(batch);
    return rows;
  });
}

void faults_round(const ColdFile& file, const std::string& name, double seconds, Report& report) {
  drop_checked(file, name, report);
  const Mapping map(file.path);
  const HugeBuffer slot(kColdBatch * kRecordBytes);
  measure(file, name, seconds, report, [&](int64_t done) -> int64_t {
    for (int64_t i = 0; i < kColdBatch; ++i) {
      std::memcpy(slot.data() + i * kRecordBytes,
                  map.data() + int64_t{file.order[static_cast<size_t>(done + i)]} * kRecordBytes,
                  kRecordBytes);
    }
    return done + 2 * kColdBatch <= static_cast<int64_t>(file.order.size()) ? kColdBatch : 0;
  });
}

// Threads that each keep one direct read in flight.
void pread_round(const ColdFile& file, const std::string& name, double seconds, Report& report) {
  drop_checked(file, name, report);
  const int fd = open_direct(file.path);
  std::atomic<int64_t> next{0};
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t begin = now_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < kDepth; ++thread) {
    threads.emplace_back([&] {
      alignas(kSectorBytes) static thread_local std::byte buffer[kRecordBytes];
      // One at least: on a busy machine a thread may begin after the deadline.
      do {
        const int64_t at = next.fetch_add(1);
        if (at >= static_cast<int64_t>(file.order.size())) break;
        const off_t offset = int64_t{file.order[static_cast<size_t>(at)]} * kRecordBytes;
        if (::pread(fd, buffer, kRecordBytes, offset) != kRecordBytes) fail("a direct read failed");
      } while (now_ns() < deadline);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int64_t records = std::min(next.load(), static_cast<int64_t>(file.order.size()));
  report_reads(report, name, records, now_ns() - begin, process_cpu_ns() - cpu_begin);
  ::close(fd);
}

#if defined(DATALINE_HAS_LIBURING)

bool io_uring_allowed() {
  io_uring ring{};
  if (io_uring_queue_init(8, &ring, 0) != 0) return false;
  io_uring_queue_exit(&ring);
  return true;
}

void uring_round(const ColdFile& file, const std::string& name, double seconds, Report& report) {
  drop_checked(file, name, report);
  const int fd = open_direct(file.path);
  const HugeBuffer buffers(kDepth * kRecordBytes);
  io_uring ring{};
  if (io_uring_queue_init(kDepth, &ring, 0) != 0) fail("io_uring_queue_init");
  if (io_uring_register_files(&ring, &fd, 1) != 0) fail("io_uring_register_files");
  int64_t submitted = 0;
  const auto submit = [&](uint64_t slot) {
    io_uring_sqe* entry = io_uring_get_sqe(&ring);
    io_uring_prep_read(entry, 0, buffers.data() + slot * kRecordBytes, kRecordBytes,
                       uint64_t{file.order[static_cast<size_t>(submitted)]} * kRecordBytes);
    entry->flags |= IOSQE_FIXED_FILE;
    entry->user_data = slot;
    ++submitted;
  };
  for (uint64_t slot = 0; slot < kDepth; ++slot) submit(slot);
  measure(file, name, seconds, report, [&](int64_t) -> int64_t {
    io_uring_submit_and_wait(&ring, 1);
    io_uring_cqe* entries[kDepth];
    const unsigned count = io_uring_peek_batch_cqe(&ring, entries, kDepth);
    for (unsigned i = 0; i < count; ++i) {
      if (entries[i]->res != kRecordBytes) fail("a direct read failed");
      submit(entries[i]->user_data);
    }
    io_uring_cq_advance(&ring, count);
    return submitted + kDepth <= static_cast<int64_t>(file.order.size()) ? count : 0;
  });
  io_uring_submit(&ring);
  for (int64_t slot = 0; slot < kDepth; ++slot) {
    io_uring_cqe* entry = nullptr;
    io_uring_wait_cqe(&ring, &entry);
    io_uring_cqe_seen(&ring, entry);
  }
  io_uring_queue_exit(&ring);
  ::close(fd);
}

#else

bool io_uring_allowed() { return false; }
void uring_round(const ColdFile&, const std::string&, double, Report&) {}

#endif

}  // namespace

std::vector<Variant> cold(const Settings& settings) {
  auto file = std::make_shared<ColdFile>();
  file->path = random_rows_file(settings.data_dir, settings.small ? 70'000 : 6'000'000, 784);
  file->order = shuffled_order(((settings.small ? 70'000 : 6'000'000) * int64_t{784}) / kRecordBytes);
  file->min_records = settings.small ? 256 : 4096;
  std::vector<Variant> variants;
  for (const int workers : {0, 1}) {
    variants.push_back(
        {"dataline w" + std::to_string(workers),
         [file, workers, seed = int64_t{0}](const std::string& name, double seconds, Report& report) mutable {
           dataline_round(*file, workers, name, seconds, ++seed, report);
         }});
  }
  if (io_uring_allowed()) {
    variants.push_back(
        {"io_uring direct 128", [file](const std::string& name, double seconds, Report& report) {
           uring_round(*file, name, seconds, report);
         }});
  }
  variants.push_back({"pread direct 128", [file](const std::string& name, double seconds, Report& report) {
                        pread_round(*file, name, seconds, report);
                        if (!io_uring_allowed()) report.note(name, "io_uring is not allowed here");
                      }});
  variants.push_back({"demand faults", [file](const std::string& name, double seconds, Report& report) {
                        faults_round(*file, name, seconds, report);
                      }});
  return variants;
}

namespace {

constexpr int64_t kLongReadBytes = int64_t{8} << 20;  // as large as the blocks of the default
constexpr int64_t kLongReads = 4;                     // at a time

// The file from its begin to its end, in direct reads or through the page cache.
void sequential_round(const ColdFile& file, bool direct, const std::string& name, Report& report) {
  drop_checked(file, name, report);
  const int fd = open_cold(file.path, direct ? O_DIRECT : 0);
  const int64_t bytes = file.min_records * kRecordBytes / kLongReadBytes * kLongReadBytes;
  std::atomic<int64_t> next{0};
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t begin = now_ns();
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < kLongReads; ++thread) {
    threads.emplace_back([&] {
      const HugeBuffer buffer(kLongReadBytes);
      for (int64_t at = next.fetch_add(kLongReadBytes); at < bytes; at = next.fetch_add(kLongReadBytes)) {
        if (::pread(fd, buffer.data(), kLongReadBytes, at) != kLongReadBytes) fail("a long read failed");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  report_reads(report, name, bytes / kRecordBytes, now_ns() - begin, process_cpu_ns() - cpu_begin);
  ::close(fd);
}

// An epoch, or as many records of it as `share` says.
void epoch_round(const ColdFile& file, const OptionList& order, int64_t share, const std::string& name,
                 Report& report) {
  drop_checked(file, name, report);
  OptionList options = {{"batch_size", "256"}, {"num_workers", "1"}, {"epochs", "1"}};
  options.insert(options.end(), order.begin(), order.end());
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t begin = now_ns();
  Job job("raw:" + file.path + "?dtype=u8&shape=" + std::to_string(kRecordBytes) + "&partial=ignore",
          options);
  int64_t records = 0;
  for (int64_t batch = 0; batch < job.batches_per_epoch() / share; ++batch) {
    dl_batch* lease = job.next();
    records += batch_rows(lease);
    dl_batch_release(lease);
  }
  report_reads(report, name, records, now_ns() - begin, process_cpu_ns() - cpu_begin);
}

}  // namespace

std::vector<Variant> cold_window(const Settings& settings) {
  auto file = std::make_shared<ColdFile>();
  const int64_t rows = settings.small ? 70'000 : 2'700'000;  // 2.1 GB
  file->path = random_rows_file(settings.data_dir, rows, 784);
  file->min_records = rows * 784 / kRecordBytes;
  const auto variant = [&](const std::string& name, OptionList order, int64_t share) {
    return Variant{name, [file, order = std::move(order), share, seed = int64_t{0}](
                             const std::string& named, double, Report& report) mutable {
                     OptionList options = order;
                     options.emplace_back("seed", std::to_string(++seed));
                     epoch_round(*file, options, share, named, report);
                   }};
  };
  const auto sequential = [&](const std::string& name, bool direct) {
    return Variant{name, [file, direct](const std::string& named, double, Report& report) {
                     sequential_round(*file, direct, named, report);
                   }};
  };
  return {sequential("sequential direct reads", true),
          sequential("sequential reads, page cache", false),
          variant("dataline w1 file order", {{"shuffle", "none"}}, 1),
          variant("dataline w1 window", {{"shuffle", "window"}}, 1),
          variant("dataline w1 window of 32", {{"shuffle", "window"}, {"shuffle_blocks", "32"}}, 1),
          variant("dataline w1 full", {{"shuffle", "full"}}, 16)};
}

}  // namespace bench
