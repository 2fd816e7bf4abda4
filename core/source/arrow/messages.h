// The messages of an Arrow IPC file or stream: where they lie, and what their metadata say.
//
// A message is 0xFFFFFFFF, an i32 size (before Arrow 0.15 the size alone), so many bytes of a FlatBuffer `Message`, and its
// body. A stream is a schema, then dictionaries and record batches, and ends with a message of size 0 or with the file. A file is
// "ARROW1\0\0", a stream, a FlatBuffer `Footer`, its i32 size, "ARROW1"; the footer has the schema and where the messages lie.
// Source: Apache Arrow, "Arrow Columnar Format" 1.5, "Serialization and Interprocess Communication (IPC)"; Message.fbs, File.fbs.
//
// Threads: externally synchronized. Lifetime: the file outlives what reads it.
// Cost: a read of 4 KiB a message, and a second one where its metadata are longer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/memory/mapped_file.h"
#include "core/source/arrow/flatbuffer.h"
#include "core/source/file_source.h"

namespace dataline {

constexpr int64_t kMaxArrowMetadataBytes = int64_t{64} << 20;  // of a message
constexpr int64_t kMaxArrowFooterBytes = int64_t{1} << 30;     // 40 million batches

enum class ArrowKind : uint8_t { kSchema = 1, kDictionary = 2, kBatch = 3, kTensor = 4, kSparseTensor = 5 };

struct ArrowMessage {
  ArrowKind kind = ArrowKind::kSchema;
  FlatTable header;  // valid until the next read
  int64_t offset = 0;
  int64_t body_at = 0, body_bytes = 0;  // in the file: checked
  bool old_unions = false;              // metadata V4, where unions have validity bitmaps

  int64_t end() const { return body_at + body_bytes; }
};

// Where the footer says that a message lies, from the beginning of the Arrow file.
struct ArrowBlock {
  int64_t offset = 0, metadata_bytes = 0, body_bytes = 0;
};

class ArrowMessages {
 public:
  // Messages lie in `place`.
  ArrowMessages(const MappedFile& file, FileExtent place)
      : file_(file), begin_(place.offset), end_(place.offset + place.bytes) {}

  // The message at `offset` of the file; nothing at an end mark or at the end. kTruncated, kCorrupt, kUnsupported (metadata older than
  // V4), kTooLarge name file and offset.
  Result<std::optional<ArrowMessage>> read(int64_t offset);
  // The message of a block, which is of this kind. Blocks do not overlap: otherwise a small file could say more than fits in
  // memory.
  Result<ArrowMessage> read(const ArrowBlock& block, ArrowKind kind);

  FlatBuffer& buffer() { return *flat_; }      // of the message read last
  bool end_mark() const { return end_mark_; }  // whether the last read found one
  int64_t next() const { return next_; }       // where the message after it begins

 private:
  struct Frame {
    int64_t prefix_bytes = 0, metadata_bytes = 0;
  };
  Result<Frame> read_frame(int64_t offset);
  Result<ArrowMessage> parse(int64_t offset, const Frame& frame);

  const MappedFile& file_;
  const int64_t begin_, end_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<FlatBuffer> flat_;
  bool end_mark_ = false;
  int64_t next_ = 0;
  int64_t block_bytes_ = 0;  // of all blocks that were read
};

class ArrowFooter {
 public:
  // Of an Arrow file at `place`, which begins with "ARROW1". kTruncated: it does not end so. kCorrupt, kTooLarge, kUnsupported;
  // kOverBudget.
  static Result<ArrowFooter> read(const MappedFile& file, FileExtent place, const OpenContext& context);

  FlatTable schema() const { return schema_; }
  bool old_unions() const { return old_unions_; }
  FileExtent messages() const { return messages_; }  // where they lie: before the footer
  int64_t dictionary_count() const { return dictionaries_.size(); }
  int64_t batch_count() const { return batches_.size(); }
  ArrowBlock dictionary(int64_t i) const { return block(dictionaries_, i); }
  ArrowBlock batch(int64_t i) const { return block(batches_, i); }

 private:
  ArrowFooter() = default;
  static ArrowBlock block(const FlatVector& blocks, int64_t i);

  Block bytes_;
  std::unique_ptr<FlatBuffer> flat_;
  FlatTable schema_;
  FlatVector dictionaries_, batches_;
  FileExtent messages_{};
  bool old_unions_ = false;
};

// Whether a FlatBuffer begins a stream: a message with a schema, as far as these first bytes show.
bool begins_arrow_stream(Bytes first);

}  // namespace dataline
