// Packing: documents as rows of one length.
//
// A packed dataset has a sample per row of exactly `length` tokens, with the fields
//   x           the tokens; 0 in padding
//   y           the next token of the same document at each place; -100 at a document's last token and in padding, which is
//               what PyTorch's cross_entropy leaves out by itself. i32, or i64 for tokens of more bits
//   segment     i32: 1, 2, ... for the row's documents, 0 for padding
//   position    i32: from 0 in each document of the row, and in the padding
//   cu_seqlens  ragged i32: where position is 0, and `length`
// A document of which the row has a part counts as a document of the row; y goes on across the parts.
//
// How documents become rows is decided once, from their lengths alone, so that a row is found without looking at others, and
// rows are shuffled, shared among ranks and resumed as the samples of any dataset. Documents without tokens are in no row.
//   concat    row r holds tokens [r * length, (r + 1) * length) of all documents joined, in their order.
//   best_fit  each run of `window` documents is packed by itself (best_fit.h).
// A row that is not full ends with padding.
//
// Threads: immutable after open.
// Memory: concat: 0.4 bytes a document; best_fit: 2 bytes a document and 4 a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/uri.h"

namespace dataline {

enum class PackMethod : int32_t { kConcat, kBestFit };

constexpr int64_t kMaxPackLength = (int64_t{1} << 24) - 1;  // what best fit's index of free space holds
constexpr int64_t kMaxPackWindow = int64_t{1} << 16;        // documents of a window are numbered in two bytes
constexpr int64_t kDefaultPackWindow = 4096;
constexpr int32_t kNoTarget = -100;  // in y

struct PackOptions {
  int64_t length = 0;  // 1 .. kMaxPackLength
  PackMethod method = PackMethod::kConcat;
  int64_t window = kDefaultPackWindow;  // documents, of best_fit: 1 .. kMaxPackWindow
  bool split = true;  // best_fit: a document longer than a row is split; false: it is an error
};

// kUnsupported: a dataset that has other fields than one ragged one of integers, or is a stream.
Status check_documents(const Source& documents);

// The rows of a dataset with one ragged field of integers whose lengths are known without reading; of a mix, its parts one after
// another. kUnsupported: another dataset; kTooLarge: more than 2^63 tokens, 2^31 rows of a window, or, without `split`, a document longer than a row, which
// it names; kCancelled; std::bad_alloc.
Result<SourceRef> pack_source(SourceRef documents, const PackOptions& options, const OpenContext& context);

// The same as keys of a URI. Those of formats that give documents.
inline constexpr KeySpec kPackLengthKey{"pack_length", "INTEGER", "",
                                        "packs the documents into samples of exactly this many tokens: "
                                        "fields x, y, segment, position, cu_seqlens"};
inline constexpr KeySpec kPackMethodKey{
    "pack_method", "concat|best_fit", "concat",
    "concat: documents are joined and cut into rows; best_fit: documents are kept in one piece"};
inline constexpr KeySpec kPackWindowKey{"pack_window", "INTEGER", "4096",
                                        "best_fit: how many documents are packed together"};
inline constexpr KeySpec kPackSplitKey{
    "pack_split", "true|false", "true",
    "best_fit: a document longer than a row is split; false: it is an error"};
inline constexpr KeySpec kPackingKeys[] = {kPackLengthKey, kPackMethodKey, kPackWindowKey, kPackSplitKey};

// That the keys that take words have one of theirs.
Status check_packing_words(const Uri& uri);
// Nothing without pack_length. kBadUri with column.
Result<std::optional<PackOptions>> uri_packing(const Uri& uri);

}  // namespace dataline
