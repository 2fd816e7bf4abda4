// How far the opening of a dataset has come: numbers that other threads may read, and the log's progress lines, which are
// made of them.
// Threads: line_due() and text(): the thread that opens; the others: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/atomic.h"

namespace dataline {

class OpenProgress {
 public:
  struct Numbers {
    int64_t files = 0, total_files = 0;  // opened, of those that the URI stands for; 0 until they are listed
    // Read into memory, inflated or searched, of what the files begun so far need: both only grow.
    int64_t bytes = 0, total_bytes = 0;
    int64_t entries = 0;  // found in folders, lists and archives
  };

  OpenProgress();

  // Relaxed: counts that publish nothing else.
  void expect_files(int64_t count) { total_files_.fetch_add(count, std::memory_order_relaxed); }
  void add_file() { files_.fetch_add(1, std::memory_order_relaxed); }
  void expect_bytes(int64_t bytes) { total_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void add_bytes(int64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void add_entries(int64_t count) { entries_.fetch_add(count, std::memory_order_relaxed); }
  Numbers numbers() const;

  // Whether the log gets a line now: half a second, 256 files or 64 MiB after the last one, or after the beginning.
  bool line_due();
  std::string text() const;  // "3 of 40 files, 2048 entries, 67108864 of 157286400 bytes"

 private:
  Atomic<int64_t> files_{0}, total_files_{0}, bytes_{0}, total_bytes_{0}, entries_{0};
  Numbers told_;
  int64_t told_ns_;
};

}  // namespace dataline
