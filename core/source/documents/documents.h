// Documents of a file of tokens: record i is document i, one ragged field `tokens` of the file's dtype.
//
// Where documents end is found once, at open: by the token that ends each, which belongs to it (the last document may lack
// it), or from a list of offsets. Documents follow each other without gaps and cover the file.
//
// Threads: immutable after open; every function may be called from several workers at once.
// Memory: 4 bytes a document (sorted_table.h); while end tokens are searched for, 4 more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/source/adjacent_records.h"
#include "core/source/documents/token_file.h"

namespace dataline {

// How documents are told apart: by the token `eot`, or by the numbers in the .npy file `offsets` if that is named.
struct DocumentRule {
  int64_t eot = 0;
  std::string offsets = {};
};

// Reads where documents end. kMismatch: an eot that the dtype cannot hold. Of offsets: the errors of read_npy_header();
// kUnsupported (not one dimension of i64 or u64), kOutOfRange (they decrease, or leave the tokens), naming file and entry.
// kCancelled; std::bad_alloc.
Result<SourceRef> open_documents(MappedFile file, const TokenSpan& tokens, const DocumentRule& rule,
                                 SourceInfo info, const OpenContext& context);

// For the ends of documents, in tokens: the place of every `eot` + 1, and the end of the last document. `what`: "documents",
// as progress and kCancelled call them; kTruncated, kIo.
Result<SortedTable> find_ends(const MappedFile& file, const TokenSpan& tokens, int64_t eot,
                              std::string_view what, const OpenContext& context);

// From a list of offsets: 0 ... n (documents + 1 numbers), the starts alone (0 ...), or the ends alone (... n), for n tokens.
Result<SortedTable> read_ends(const std::string& path, int64_t token_count, const OpenContext& context);

class DocumentFile final : public AdjacentRecords {
 public:
  // `ends` are of documents in the file's tokens: the caller has checked that they lie in the file.
  static SourceRef create(MappedFile file, const TokenSpan& tokens, SortedTable ends, SourceInfo info);

  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  int64_t record_items(int64_t index) const override { return records_.units(index); }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override;
  void advise_items(const ItemRange& range) const override;
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  struct Facts {
    int64_t longest = 0;
    uint64_t digest = 0;
  };
  DocumentFile(MappedFile file, const TokenSpan& tokens, SortedTable ends, SourceInfo info,
               const Facts& facts);

  FileExtent extent_of_items(const ItemRange& range) const {
    const int64_t bytes = records_.unit_bytes;
    return {extent_of(range.index).offset + range.first * bytes, range.count * bytes};
  }
  bool copies() const { return swapped_ || !file_.addressable(); }
  int64_t room_bytes(int64_t max_bytes_per_sample) const;
  Result<const std::byte*> locate_range(const ItemRange& range, bool populate, const CancelFlag* cancelled,
                                        std::byte* room) const;

  const bool swapped_;
  const uint64_t ends_digest_;
};

}  // namespace dataline
