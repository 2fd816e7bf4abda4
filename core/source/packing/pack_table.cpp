// SPDX-License-Identifier: Apache-2.0
#include "core/source/packing/pack_table.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/source/packing/best_fit.h"

namespace dataline {
namespace {

// Joined documents: found by a group of documents whose tokens are counted, from which a row is walked to.
constexpr int64_t kGroupDocuments = 64;
constexpr int64_t kDocumentsPerLook = 1 << 16;  // documents between two looks at the cancel token

// Lengths one after another, counted and checked.
class Lengths {
 public:
  Lengths(const Source& documents, const OpenContext& context) : documents_(documents), context_(context) {}

  Result<int64_t> next() {
    const int64_t index = next_++;
    if (index % kDocumentsPerLook == 0) {
      if (context_.cancelled())
        return error(Code::kCancelled, "cancelled while packing document ", index, " of ",
                     documents_.count());
      context_.report("packing documents");
    }
    const int64_t length = documents_.record_items(index);
    if (length < 0) {
      return error(Code::kUnsupported, "packing: the length of sample ", index,
                   " is not known without reading it; ",
                   "use a dataset of tokens, Megatron-LM, Arrow or arrays")
          .with_sample(index);
    }
    const std::optional<int64_t> tokens = checked_add(facts_.tokens, length);
    if (!tokens) return error(Code::kTooLarge, "packing: more than 2^63 tokens");
    facts_.tokens = *tokens;
    facts_.documents += static_cast<int64_t>(length > 0);
    facts_.longest = std::max(facts_.longest, length);
    digest_.add(static_cast<uint64_t>(length));
    return length;
  }
  PackFacts& facts() { return facts_; }
  Digest& digest() { return digest_; }

 private:
  const Source& documents_;
  const OpenContext& context_;
  int64_t next_ = 0;
  PackFacts facts_;
  Digest digest_;
};

class JoinedTable final : public PackTable {
 public:
  JoinedTable(const Source& documents, const PackOptions& options) : PackTable(documents, options) {}

  Status fill(const OpenContext& context) {
    Lengths lengths(documents_, context);
    std::vector<int64_t> groups;
    int64_t room = options_.length, pieces = 0;  // of the row that is being filled
    for (int64_t i = 0; i < documents_.count(); ++i) {
      if (i % kGroupDocuments == 0) groups.push_back(0);
      DL_ASSIGN_OR_RETURN(const int64_t length, lengths.next());
      groups.back() += length;
      if (length == 0) continue;
      PackFacts& facts = lengths.facts();
      facts.most_pieces = std::max(facts.most_pieces, ++pieces);
      if (length < room) {
        room -= length;
      } else {  // its rest begins a row
        const int64_t rest = (length - room) % options_.length;
        room = options_.length - rest;
        pieces = static_cast<int64_t>(rest > 0);
      }
    }
    facts_ = lengths.facts();
    facts_.most_pieces = std::max(facts_.most_pieces, pieces);
    digest_ = lengths.digest().value();
    rows_ = facts_.tokens / options_.length + static_cast<int64_t>(facts_.tokens % options_.length > 0);
    if (rows_ == 0) return Status::ok();
    DL_ASSIGN_OR_RETURN(ShardIndex index, ShardIndex::create(groups));
    groups_ = std::move(index);
    return Status::ok();
  }

  int64_t rows() const override { return rows_; }

  Cursor begin(int64_t row) const override {
    const int64_t token = row * options_.length;
    const int64_t group = groups_.shard_of(token);
    Cursor cursor{.row = row, .left = std::min(options_.length, facts_.tokens - token)};
    cursor.document = group * kGroupDocuments;
    cursor.first = token - groups_.start(group);
    return cursor;
  }

  // cursor.first: the token of the document at which the piece begins; beyond its end: further documents are next.
  ItemRange next(Cursor& cursor) const override {
    if (cursor.left == 0) return {};
    int64_t length = documents_.record_items(cursor.document);
    while (cursor.first >= length) {
      cursor.first -= std::max<int64_t>(length, 0);
      // Only where a host has changed the offsets that it lent.
      if (++cursor.document >= documents_.count()) return {};
      length = documents_.record_items(cursor.document);
    }
    const ItemRange piece{cursor.document, cursor.first, std::min(cursor.left, length - cursor.first)};
    cursor.left -= piece.count;
    cursor.first += piece.count;
    return piece;
  }

 private:
  int64_t rows_ = 0;
  ShardIndex groups_;
};

class FittedTable final : public PackTable {
 public:
  FittedTable(const Source& documents, const PackOptions& options, const OpenContext& context)
      : PackTable(documents, options),
        memory_(context.memory, MemoryKind::kTable),
        pieces_(&memory_),
        row_ends_(context.memory),
        window_ends_(context.memory) {}

  Status fill(const OpenContext& context) {
    Lengths lengths(documents_, context);
    BestFit fit(options_.length);
    std::vector<int64_t> window;
    for (int64_t first = 0; first < documents_.count(); first += options_.window) {
      window.resize(static_cast<size_t>(std::min(options_.window, documents_.count() - first)));
      int64_t full_rows = 0;
      for (size_t i = 0; i < window.size(); ++i) {
        DL_ASSIGN_OR_RETURN(window[i], lengths.next());
        DL_RETURN_IF_ERROR(check_length(first + static_cast<int64_t>(i), window[i]));
        full_rows += std::min(window[i] / options_.length, kMaxWindowRows);
      }
      if (full_rows > kMaxWindowRows) {
        return error(Code::kTooLarge, "packing: the documents from ", first, " to ",
                     first + static_cast<int64_t>(window.size()), " need more than ", kMaxWindowRows,
                     " rows; raise pack_length, or lower pack_window");
      }
      fit.pack(window);
      add_window(fit, lengths);
    }
    facts_ = lengths.facts();
    digest_ = lengths.digest().value();
    pieces_.shrink_to_fit();
    row_ends_.shrink();
    return Status::ok();
  }

  int64_t rows() const override { return row_ends_.size(); }

  Cursor begin(int64_t row) const override {
    Cursor cursor{.row = row, .left = options_.length, .document = window_of(row) * options_.window};
    cursor.first = row_begin(row);
    cursor.end = row_ends_[row];
    return cursor;
  }

  // cursor.first, cursor.end: places in pieces_.
  ItemRange next(Cursor& cursor) const override {
    if (cursor.first == cursor.end) return {};
    const bool alone = cursor.end - row_begin(cursor.row) == 1;
    const int64_t document = cursor.document + pieces_[static_cast<size_t>(cursor.first++)];
    const int64_t length = documents_.record_items(document);
    ItemRange piece{document, 0, length};
    if (length > options_.length) {
      const int64_t full = length / options_.length;
      const int64_t part = alone ? std::min(cursor.row - first_row_of(cursor), full) : full;
      piece.first = part * options_.length;
      piece.count = std::min(options_.length, length - piece.first);
    }
    // Only a host that changes the offsets that it lent makes more of it.
    piece.count = std::min(piece.count, cursor.left);
    cursor.left -= piece.count;
    return piece;
  }

 private:
  static constexpr int64_t kMaxWindowRows = (int64_t{1} << 31) - kMaxPackWindow - 1;

  Status check_length(int64_t document, int64_t length) const {
    if (options_.split || length <= options_.length) return Status::ok();
    const std::string place = place_text(documents_.place_of(document, 0));
    return error(Code::kTooLarge, place, ": document ", document, " has ", length, " tokens, pack_length is ",
                 options_.length, " and pack_split=false")
        .with_sample(document);
  }

  void add_window(const BestFit& fit, Lengths& lengths) {
    const auto base = static_cast<int64_t>(pieces_.size());
    int64_t begin = 0;
    for (const uint32_t end : fit.row_ends()) {
      row_ends_.add(base + end);
      PackFacts& facts = lengths.facts();
      facts.most_pieces = std::max(facts.most_pieces, int64_t{end} - begin);
      begin = end;
    }
    pieces_.insert(pieces_.end(), fit.pieces().begin(), fit.pieces().end());
    lengths.digest().add(std::as_bytes(fit.pieces()));
    lengths.digest().add(std::as_bytes(fit.row_ends()));
    window_ends_.add(row_ends_.size());
  }

  int64_t row_begin(int64_t row) const { return row == 0 ? 0 : row_ends_[row - 1]; }

  // The first window that ends after the row.
  int64_t window_of(int64_t row) const {
    return search(0, window_ends_.size(), [&](int64_t w) { return window_ends_[w] > row; });
  }

  // The first row of the window that begins with the document of this row: parts of a long document follow each other.
  int64_t first_row_of(const Cursor& cursor) const {
    const int64_t window = window_of(cursor.row);
    const auto first_of = [&](int64_t row) { return pieces_[static_cast<size_t>(row_begin(row))]; };
    return search(window == 0 ? 0 : window_ends_[window - 1], cursor.row,
                  [&](int64_t row) { return first_of(row) >= first_of(cursor.row); });
  }

  // The first number in [low, high) for which `holds`, or high; it holds for all after that.
  template <typename Holds>
  static int64_t search(int64_t low, int64_t high, Holds holds) {
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  MetadataResource memory_;
  std::pmr::vector<uint16_t> pieces_;  // documents in their windows, row after row
  SortedTable row_ends_;               // in pieces_
  SortedTable window_ends_;            // in rows
};

}  // namespace

Result<std::unique_ptr<const PackTable>> PackTable::build(const Source& documents, const PackOptions& options,
                                                          const OpenContext& context) {
  if (options.method == PackMethod::kConcat) {
    auto table = std::make_unique<JoinedTable>(documents, options);
    DL_RETURN_IF_ERROR(table->fill(context));
    return std::unique_ptr<const PackTable>(std::move(table));
  }
  auto table = std::make_unique<FittedTable>(documents, options, context);
  DL_RETURN_IF_ERROR(table->fill(context));
  return std::unique_ptr<const PackTable>(std::move(table));
}

}  // namespace dataline
