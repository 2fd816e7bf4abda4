// The compressed buffers of an Arrow file: where each will lie in memory, and inflating them there. Only those of columns that
// are read.
//
// A buffer is an i64, its length inflated, and a frame of LZ4 or Zstandard; with -1 its bytes follow as they are. An empty one has
// no length. Source: Apache Arrow, "Arrow Columnar Format" 1.5, "Compression"; Message.fbs, BodyCompression.
//
// Threads: externally synchronized; run() starts some of its own.
// Memory: all that is inflated, 64 bytes aligned, and each thread's largest compressed buffer meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"
#include "core/memory/mapped_file.h"
#include "core/source/file_source.h"
#include "core/source/frames.h"

namespace dataline {

class ArrowInflation {
 public:
  ArrowInflation(const MappedFile& file, const OpenContext& context);

  // The buffers of another message, or batch, follow.
  void begin_message(std::optional<FrameCodec> codec);  // nothing: as they are
  // Where the buffer at `at`, which lies in the file, will be, and how long it will be. kCorrupt: a length that cannot be.
  // std::bad_alloc.
  Result<FileExtent> add(int64_t at, int64_t bytes);

  std::string codecs() const;  // "LZ4 and Zstandard"
  // A file in memory that has all of them where add() said. kCorrupt, kTruncated, kIo, kChanged, kCancelled; kNoMemory,
  // kOverBudget, kUnsupported (the codec is not built in).
  Result<MappedFile> run();

 private:
  struct Buffer {
    FileExtent from, to;
    std::optional<FrameCodec> codec;
  };
  struct Failure {
    size_t buffer = 0;
    Status status;
  };

  Result<Buffer> describe(int64_t at, int64_t bytes) const;
  void work(bool reports) noexcept DL_EXCLUDES(mutex_);
  Status inflate_all(bool reports, size_t& buffer);
  Status inflate(const Buffer& buffer, FrameInflater& inflater, std::byte* room) const;
  void fail(size_t buffer, Status status) DL_EXCLUDES(mutex_);

  const MappedFile& file_;
  const OpenContext& context_;
  MetadataResource memory_;
  std::pmr::vector<Buffer> buffers_;
  std::map<std::pair<int64_t, int64_t>, FileExtent> of_message_;  // by where they lie: columns may share them
  std::optional<FrameCodec> codec_;
  std::array<bool, 2> used_{};     // by codec
  int64_t end_ = 0, largest_ = 0;  // largest_: as it is stored
  Block out_;
  Atomic<size_t> next_{0};  // buffer that no thread has taken
  Atomic<bool> stop_{false}, out_of_memory_{false};
  std::exception_ptr refused_;  // of the first thread without memory; read after the joins
  ThreadMutex mutex_;
  std::optional<Failure> failure_ DL_GUARDED_BY(mutex_);  // of the first buffer that failed
};

}  // namespace dataline
