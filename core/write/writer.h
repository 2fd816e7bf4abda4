// Writes rows as a set: a directory of shards in one format, and a manifest. The set is there, whole, when finish() returns; until
// then it is PATH.partial, where a shard counts once its line in the manifest is on the disk. Whoever opens the same set again after a crash
// goes on behind the last such shard, whose bytes are compared with their checksum first.
//
// Threads: all functions may be called from several threads at once; an append is one piece, in the order in which they come.
// Lock: mutex_ guards everything that changes.
// Failure: rows that cannot be stored are refused as a whole, and the writer stays usable. After a failure of the file system every
// call gives that error; the shards that are done stay, and another writer can go on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread_mutex.h"
#include "core/memory/output_directory.h"
#include "core/write/manifest.h"
#include "core/write/shard_encoder.h"

namespace dataline {

constexpr int64_t kDefaultShardBytes = int64_t{256} << 20;

struct WriterCounts {
  int64_t samples = 0, bytes = 0, shards = 0;  // bytes: of finished shards
  int64_t resumed_samples = 0;                 // of them, those that were there when the writer was made
};

class Writer {
 public:
  // `uri`: FORMAT:PATH[?shard_bytes=SIZE&codec=none|lz4|zstd]. `job` says what the set is made of: another job does not go on with it.
  // kBadUri, kUnsupported (a field that the format does not hold, a codec that this build lacks), kInvalidArgument (fields), kWrongState (PATH exists, or is being
  // written), kStateRefused (PATH.partial is another job's), kCorrupt (its manifest), and those of files.
  static Result<std::unique_ptr<Writer>> create(std::string_view uri, std::vector<Field> fields,
                                                std::string job);

  // `position`: what the host needs to go on after these rows.
  Status append(std::vector<ArrayField> arrays, int64_t count, std::string_view position);
  // kEmpty: there is no row. Afterwards nothing can be appended.
  Status finish();

  WriterCounts counts() const;
  const std::string& position() const {
    return position_;
  }  // of the last shard that was there at create; empty: none

 private:
  Writer(OutputDirectory directory, ManifestHead head, const WriteFormat& format,
         std::unique_ptr<ShardEncoder> encoder);
  Status resume();
  Status check_usable() const DL_REQUIRES(mutex_);
  Status check_arrays(std::vector<ArrayField>& arrays, int64_t count) const;
  Status write_rows(const HostRows& rows, std::string_view position) DL_REQUIRES(mutex_);
  Status begin_shard() DL_REQUIRES(mutex_);
  Status end_shard() DL_REQUIRES(mutex_);
  Status fail(Status status) DL_REQUIRES(mutex_);

  mutable ThreadMutex mutex_;
  // Constant after create.
  const std::unique_ptr<const ManifestHead> head_;  // the encoder refers to its fields
  const WriteFormat& format_;
  std::string position_;

  OutputDirectory directory_ DL_GUARDED_BY(mutex_);
  std::unique_ptr<ShardEncoder> encoder_ DL_GUARDED_BY(mutex_);
  std::optional<AppendFile> manifest_ DL_GUARDED_BY(mutex_);
  std::optional<ShardFile> file_ DL_GUARDED_BY(mutex_);  // of the shard that is open
  ManifestShard shard_ DL_GUARDED_BY(mutex_);            // the same
  WriterCounts counts_ DL_GUARDED_BY(mutex_);
  Status failure_ DL_GUARDED_BY(mutex_);
  bool finished_ DL_GUARDED_BY(mutex_) = false;
};

}  // namespace dataline
