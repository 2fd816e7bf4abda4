// Samples in tar archives by WebDataset's conventions, with random access into the mapped file.
//
// A sample is a run of adjacent members with the same key. The key is the path up to the first dot of its last component;
// the rest, in lower case, is the field's name. `jpg jpeg png webp` are the field `image`, `cls` is `label`. Skipped:
// directories, hidden names (names.h), `__x__` members, members without an extension, and fields that at most half of the
// samples have.
// Source: WebDataset's tariterators (base_plus_ext, group_by_keys).
//
// Fields: `image` (jpg, jpeg, png, webp) as stored, `label` (cls: decimal text), every other extension under its own name as
// ragged u8, and `key`.
// Threads: immutable once read.
// Memory: 12 bytes per sample and field, 8 per sample, and the keys; while reading, 16 more per member.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/tar/tar_members.h"

namespace dataline {

constexpr size_t kMaxTarFields = 64;

struct TarOptions {
  bool label_u8 = false;  // labels as u8, else i64
  TarEnd end = TarEnd::kRequired;
  bool skip_damage = false;              // up to the next header (TarMembers)
  std::string image = {};                // the only extension that is `image`; empty: jpg, jpeg, png, webp
  std::vector<std::string> fields = {};  // the fields to read, in this order; empty: all
};

// Where a member's bytes are, as two 48-bit numbers, so that two fields and a key take 40 bytes per sample.
struct TarExtent {
  uint32_t offset_low = UINT32_MAX, bytes_low = 0;
  uint16_t offset_high = UINT16_MAX, bytes_high = 0;

  static constexpr int64_t kEnd = (int64_t{1} << 48) - 1;  // offset and bytes are below
  static TarExtent of(int64_t offset, int64_t bytes);
  bool present() const { return offset_low != UINT32_MAX || offset_high != UINT16_MAX; }
  int64_t offset() const { return int64_t{offset_high} << 32 | offset_low; }
  int64_t bytes() const { return int64_t{bytes_high} << 32 | bytes_low; }
};
static_assert(sizeof(TarExtent) == 12);

// Splits a name into key and extension. The key is empty if the member is not part of a sample.
struct TarName {
  std::string_view key;
  std::string_view extension;
};
TarName split_tar_name(std::string_view name);

class TarIndex {
 public:
  struct FieldOf {
    std::string name;
    std::string extension;  // of its first member, for messages
    int64_t max_bytes = 0;
  };

  // One pass over the headers. The errors of TarMembers, and: kEmpty (no samples), kCorrupt (two members for one field of a
  // sample), kUnsupported (an extension that cannot name a field), kTooLarge (more than kMaxTarFields fields),
  // kNoSuchField (a requested field that no sample has), kMismatch (no field in more than half of the samples), kCancelled.
  static Result<TarIndex> read(const MappedFile& file, const TarOptions& options, const OpenContext& context);

  int64_t count() const { return static_cast<int64_t>(key_ends_.size()); }
  const std::vector<FieldOf>& fields() const { return fields_; }
  int64_t longest_key() const { return longest_key_; }
  const std::vector<std::string>& notes() const { return notes_; }

  std::string_view key(int64_t sample) const {
    const size_t i = static_cast<size_t>(sample), begin = i == 0 ? 0 : key_ends_[i - 1];
    return {keys_.data() + begin, key_ends_[i] - begin};
  }
  const TarExtent& extent(int64_t sample, size_t field) const {
    return extents_[static_cast<size_t>(sample) * fields_.size() + field];
  }

 private:
  friend class TarIndexBuilder;
  explicit TarIndex(std::shared_ptr<HostMemory> memory)
      : memory_(std::make_unique<MetadataResource>(std::move(memory), MemoryKind::kTable)),
        keys_(memory_.get()),
        key_ends_(memory_.get()),
        extents_(memory_.get()) {}

  std::unique_ptr<MetadataResource> memory_;
  std::vector<FieldOf> fields_;
  std::vector<std::string> notes_;
  int64_t longest_key_ = 0;
  std::pmr::vector<char> keys_;
  std::pmr::vector<uint64_t> key_ends_;
  std::pmr::vector<TarExtent> extents_;
};

// Opens one archive. The errors of TarIndex::read(); kUnsupported for compressed archives, kCorrupt for other files in place
// of an archive (git-LFS pointers, HTML pages). A sample that lacks a field, or whose label is not a number, fails its
// own row (kCorrupt, kOutOfRange), naming file, offset and member.
Result<SourceRef> open_tar(const std::string& path, const TarOptions& options, const OpenContext& context);
// The same for a file that is already open.
Result<SourceRef> open_tar(MappedFile file, const TarOptions& options, const OpenContext& context);

}  // namespace dataline
