// Samples kept in files (store_layout.h), by their number: one cache of a CacheDirectory, which any number of loaders and processes
// read and fill at once.
//
// A sample counts when its entry and its bytes have their checksums. So nothing is in the wrong order after a kill or a loss of
// power: what is half written, or written by two at once, is not there, and is made anew.
// Cost of a sample that is kept: two reads of the page cache and a pass of CRC-32C.
//
// Threads: read(), keep() and full() from several at once. Locks: mutex_ before the directory's lock.
// Descriptors: the store opens no file unless the job can open settings.job_descriptors more.
// Failure: what cannot be read is not there; what cannot be written, for lack of room or rights, ends the filling, with one
// warning. Where nothing can be written from the start, as on a medium that is only read or a full disk, the store reads what
// others have kept there. Only an option that names no directory, and none that can be made, makes open() fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/base/atomic.h"
#include "core/base/bytes.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/loader/cache/cache_directory.h"
#include "core/memory/locked_file.h"
#include "core/memory/pages.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {

struct StoreSettings {
  std::string directory;
  int64_t budget_bytes = -1;
  std::string key;  // 16 hex digits: what decides what the samples are
  int64_t samples = 0;
  int64_t job_descriptors = 0;  // that the job may still open, and which the store never takes
  Log log = {};
};

struct StoreEntry;  // store_layout.h

class SampleStore {
 public:
  // Null: the directory cannot be used, neither to fill nor to read, which one warning says; the job goes on without it.
  // An option's error: the path is no directory, or there is none to make it in. With "option cache: " before it.
  static Result<std::unique_ptr<SampleStore>> open(const StoreSettings& settings);
  ~SampleStore();

  // The sample's bytes, into `room` bytes at `out`, if they were kept with this stamp; their number, or -1.
  int64_t read(int64_t sample, uint64_t stamp, std::byte* out, int64_t room) const;
  // Nothing is written where the sample was kept meanwhile, as by another job in step with this one.
  void keep(int64_t sample, uint64_t stamp, Bytes bytes);
  // Whether the pages of the sample, of whatever stamp, are in memory; nullopt: none was kept.
  std::optional<bool> cached(int64_t sample) const;
  // Asks for them. False: none was kept.
  bool advise(int64_t sample) const;
  // No more samples are kept.
  bool full() const { return full_.load(); }

 private:
  SampleStore(StoreSettings settings, CacheDirectory parent, SharedDirectory directory, LockedFile index)
      : settings_(std::move(settings)),
        parent_(std::move(parent)),
        directory_(std::move(directory)),
        index_(std::move(index)) {}
  static Result<std::unique_ptr<SampleStore>> open_to_fill(const StoreSettings& settings);
  // `refused`: why it cannot be filled.
  static Result<std::unique_ptr<SampleStore>> open_to_read(const StoreSettings& settings,
                                                           const Status& refused);
  // False for a new one, one whose maker was killed (zeros, or too short), and one whose header lost a few bits: as the length
  // and all other bytes are this cache's, and each entry has a checksum of its own, a new header makes it whole.
  Result<bool> index_is_whole() const;
  Status prepare_index();
  bool read_entry(int64_t sample, StoreEntry& out) const;
  bool is_whole(const StoreEntry& entry) const;
  // -1: it cannot be opened, which one warning says.
  int segment_descriptor(uint32_t segment) const DL_EXCLUDES(files_mutex_);
  static Status descriptors_left(const StoreSettings& settings);
  // Room for so many bytes in a segment of this store's own: where, or -1.
  int64_t take_room(int64_t bytes) DL_EXCLUDES(mutex_);
  Result<bool> reserve(int64_t bytes) DL_REQUIRES(mutex_);
  Status take_segment() DL_REQUIRES(mutex_);
  int64_t end_of_segment(uint32_t segment) const;
  // False: another process writes it, or this library did not make it.
  Result<bool> take_segment(uint32_t segment) DL_REQUIRES(mutex_);
  void stop_filling(const std::string& why) DL_EXCLUDES(mutex_);
  void report_damage(const std::string& what) const;

  const ForkGuard fork_guard_;
  const StoreSettings settings_;
  const CacheDirectory parent_;
  const SharedDirectory directory_;
  const LockedFile index_;
  const Crc32c crc_{best_simd_target()};
  Atomic<bool> full_{false};
  mutable Atomic<bool> damage_reported_{false};

  ThreadMutex mutex_;
  std::optional<LockedFile> own_ DL_GUARDED_BY(mutex_);  // set once
  uint32_t own_segment_ DL_GUARDED_BY(mutex_) = 0;
  int64_t end_ DL_GUARDED_BY(mutex_) = 0, reserved_end_ DL_GUARDED_BY(mutex_) = 0;

  mutable ThreadMutex files_mutex_;
  mutable std::deque<Descriptor> files_
      DL_GUARDED_BY(files_mutex_);  // by segment - 1; never closed before the end
};

}  // namespace dataline
