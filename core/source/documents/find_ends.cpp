// The pass over a file that finds the token that ends documents: by several threads, each in pieces of its own.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/bytes.h"
#include "core/base/thread.h"
#include "core/memory/machine_limits.h"
#include "core/source/documents/documents.h"
#include "core/source/documents/end_tokens.h"

namespace dataline {
namespace {

constexpr int64_t kBlockBytes = 256 << 10;  // read at once: stays in a core's second cache
constexpr int64_t kPieceBytes = int64_t{8}
                                << 20;  // of one thread; also the step of cancelling and of progress
constexpr int64_t kMaxThreads = 8;      // beyond that memory and storage are what is waited for

uint64_t as_stored(int64_t value, const TokenSpan& tokens) {
  const auto bits = static_cast<uint64_t>(value);
  if (!tokens.swapped) return bits;
  switch (dtype_bytes(tokens.dtype)) {
    case 2:
      return swap_bytes(static_cast<uint16_t>(bits));
    case 4:
      return swap_bytes(static_cast<uint32_t>(bits));
    case 8:
      return swap_bytes(bits);
    default:
      return bits;
  }
}

class EndSearch {
 public:
  EndSearch(const MappedFile& file, const TokenSpan& tokens, int64_t eot, std::string_view what,
            const OpenContext& context)
      : file_(file),
        tokens_(tokens),
        context_(context),
        what_(what),
        token_bytes_(dtype_bytes(tokens.dtype)),
        value_(as_stored(eot, tokens)),
        find_(find_tokens_function(token_bytes_, best_simd_target())),
        memory_(context.memory, MemoryKind::kTable) {
    const int64_t count = (tokens.token_count + piece_tokens() - 1) / piece_tokens();
    pieces_.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) pieces_.emplace_back(&memory_);
    context.progress->expect_bytes(tokens.token_count * token_bytes_);
  }

  Result<SortedTable> run() {
    const auto count = static_cast<int64_t>(pieces_.size());
    // A host's storage may not expect to be read from threads that nobody told it of.
    const int64_t wanted = file_.calls_host() ? 1 : std::min<int64_t>({available_cpus(), count, kMaxThreads});
    run_in_threads("dl-documents", wanted, [this](bool here) { search(/*reports=*/here); });
    if (refused_ != nullptr) std::rethrow_exception(refused_);
    if (context_.cancelled())
      return error(Code::kCancelled, file_.path(), ": cancelled while searching for ", what_);
    return joined();
  }

 private:
  struct Piece {
    explicit Piece(MetadataResource* memory) : ends(memory) {}
    std::pmr::vector<uint32_t> ends;  // from the piece's first token
    Status status;
  };

  int64_t piece_tokens() const { return kPieceBytes / token_bytes_; }

  void search(bool reports) noexcept {
    try {
      std::vector<uint64_t> block(kBlockBytes / sizeof(uint64_t));
      std::vector<uint32_t> found(static_cast<size_t>(kBlockBytes / token_bytes_));
      while (!stop_.load() && !context_.cancelled()) {
        // Relaxed: a ticket; the pieces are published by the joins.
        const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
        if (i >= static_cast<int64_t>(pieces_.size())) return;
        Piece& piece = pieces_[static_cast<size_t>(i)];
        piece.status = search_piece(i, reinterpret_cast<std::byte*>(block.data()), found.data(), piece);
        if (!piece.status.is_ok()) stop_.store(true);
        if (reports) context_.report("searching for ", what_, " in ", file_.path());
      }
    } catch (...) {  // memory is all that can run out here
      if (!out_of_memory_.exchange(true)) refused_ = std::current_exception();
      stop_.store(true);
    }
  }

  Status search_piece(int64_t number, std::byte* block, uint32_t* found, Piece& piece) const {
    const int64_t begin = number * piece_tokens();
    const int64_t count = std::min(piece_tokens(), tokens_.token_count - begin);
    for (int64_t at = 0; at < count;) {
      const int64_t part = std::min(count - at, kBlockBytes / token_bytes_);
      // Copied out, because a file that is cut while its mapping is read would raise SIGBUS.
      DL_RETURN_IF_ERROR(
          file_.read(tokens_.data_offset + (begin + at) * token_bytes_, part * token_bytes_, block));
      const int64_t ends = find_(block, part, value_, static_cast<uint32_t>(at), found);
      piece.ends.insert(piece.ends.end(), found, found + ends);
      at += part;
    }
    context_.progress->add_bytes(count * token_bytes_);
    return Status::ok();
  }

  Result<SortedTable> joined() {
    int64_t count = 1;
    for (Piece& piece : pieces_) {
      if (!piece.status.is_ok()) return std::move(piece.status);
      count += static_cast<int64_t>(piece.ends.size());
    }
    SortedTable ends(context_.memory);
    ends.reserve(count);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const int64_t begin = static_cast<int64_t>(i) * piece_tokens();
      for (const uint32_t end : pieces_[i].ends) ends.add(begin + end);
      std::pmr::vector<uint32_t>(&memory_).swap(pieces_[i].ends);
    }
    if (tokens_.token_count > ends.back()) ends.add(tokens_.token_count);
    return ends;
  }

  const MappedFile& file_;
  const TokenSpan& tokens_;
  const OpenContext& context_;
  const std::string_view what_;
  const int64_t token_bytes_;
  const uint64_t value_;
  const FindTokens find_;
  MetadataResource memory_;
  std::vector<Piece> pieces_;
  Atomic<int64_t> next_{0};
  Atomic<bool> stop_{false}, out_of_memory_{false};
  std::exception_ptr refused_;  // of the first thread without memory; read after the joins
};

}  // namespace

Result<SortedTable> find_ends(const MappedFile& file, const TokenSpan& tokens, int64_t eot,
                              std::string_view what, const OpenContext& context) {
  return EndSearch(file, tokens, eot, what, context).run();
}

}  // namespace dataline
