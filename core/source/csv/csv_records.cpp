// SPDX-License-Identifier: Apache-2.0
#include "core/source/csv/csv_records.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/source/text_records.h"

namespace dataline {
namespace {

constexpr int64_t kPieceBytes = int64_t{1}
                                << 20;  // read at once; also the step of cancelling and of progress
constexpr int64_t kMaxHeader = int64_t{64} << 20;  // is copied

// Takes a file piece by piece, and tells where records end. Lines without a quote cost two memchr.
class RecordEndSearch {
 public:
  // `header`: the first record is none of `out`, which begins behind it.
  RecordEndSearch(char delimiter, bool header, int64_t first, RecordEnds& out)
      : delimiter_(delimiter), header_(header), begin_(first), at_(first), out_(out) {}

  void take(std::string_view piece) {
    piece_ = piece;
    next_quote_ = find('"', 0);
    for (size_t i = 0; i < piece.size();) i = step(i);
    at_ += static_cast<int64_t>(piece.size());
    last_ = piece.back();
  }
  // The file ends here. False: within quotes.
  bool finish() {
    if (state_ == State::kQuoted) return false;
    if (at_ > begin_ && !is_blank(at_, last_)) add(at_);
    return true;
  }
  // Of the record that is not whole.
  int64_t begin() const { return begin_; }
  int64_t longest() const { return longest_; }
  bool lacks_header() const { return header_; }

 private:
  // kQuote: after a quote within quotes, which ends them, or is the first of a pair.
  enum class State { kCellBegin, kPlain, kQuoted, kQuote };

  size_t find(char c, size_t from) const { return std::min(piece_.find(c, from), piece_.size()); }

  size_t step(size_t i) {
    if (state_ == State::kQuoted) {
      const size_t quote = find('"', i);
      if (quote == piece_.size()) return quote;
      state_ = State::kQuote;
      return quote + 1;
    }
    if (state_ == State::kQuote) {
      state_ = piece_[i] == '"' ? State::kQuoted : State::kPlain;
      if (state_ == State::kQuoted) return i + 1;
    }
    const size_t line_end = find('\n', i);
    if (next_quote_ < i) next_quote_ = find('"', i);
    if (next_quote_ < line_end) return meet_quote(i);
    if (line_end == piece_.size()) {
      state_ = piece_.back() == delimiter_ ? State::kCellBegin : State::kPlain;
      return line_end;
    }
    end_line(line_end);
    return line_end + 1;
  }

  size_t meet_quote(size_t i) {
    const bool begins =
        next_quote_ == i ? state_ == State::kCellBegin : piece_[next_quote_ - 1] == delimiter_;
    state_ = begins ? State::kQuoted : State::kPlain;
    return next_quote_ + 1;
  }

  void end_line(size_t line_end) {
    state_ = State::kCellBegin;
    const int64_t end = at_ + static_cast<int64_t>(line_end);
    if (!is_blank(end, line_end > 0 ? piece_[line_end - 1] : last_)) add(end + 1);
    begin_ = end + 1;
  }
  // Nothing but a line's end. Blank lines belong to the record after them.
  bool is_blank(int64_t end, char before) const {
    return end == begin_ || (end == begin_ + 1 && before == '\r');
  }
  void add(int64_t end) {
    if (header_) {
      header_ = false;
      out_.begin = end;
      return;
    }
    longest_ = std::max(longest_, end - out_.boundary(out_.count()));
    out_.ends.add(end);
  }

  const char delimiter_;
  bool header_;  // is still to come
  State state_ = State::kCellBegin;
  std::string_view piece_;
  size_t next_quote_ = 0;  // in the piece; its size: none
  int64_t begin_;          // of the line or record
  int64_t at_;             // of the piece in the file
  char last_ = '\n';       // of the piece before
  int64_t longest_ = 0;
  RecordEnds& out_;
};

Status check_encoding(const MappedFile& file) {
  std::array<char, 2> start{};
  if (file.bytes() < 2) return Status::ok();
  DL_RETURN_IF_ERROR(file.read(0, 2, reinterpret_cast<std::byte*>(start.data())));
  const std::string_view mark(start.data(), 2);
  if (mark != "\xff\xfe" && mark != "\xfe\xff") return Status::ok();
  return error(Code::kUnsupported, file.path(),
               ": offset 0: UTF-16, expected UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)");
}

Result<std::string> header_text(const MappedFile& file, const FileExtent& extent) {
  if (extent.bytes > kMaxHeader) {
    return error(Code::kTooLarge, file.path(), ": offset ", extent.offset, ": the header has ", extent.bytes,
                 " bytes, at most ", kMaxHeader);
  }
  std::string text(static_cast<size_t>(extent.bytes), '\0');
  DL_RETURN_IF_ERROR(file.read(extent.offset, extent.bytes, reinterpret_cast<std::byte*>(text.data())));
  return std::string(csv_record_text(text));
}

}  // namespace

Result<CsvRecords> find_csv_records(const MappedFile& file, const CsvDialect& dialect,
                                    const OpenContext& context) {
  DL_RETURN_IF_ERROR(check_encoding(file));
  DL_ASSIGN_OR_RETURN(const int64_t first, bytes_before_text(file));
  CsvRecords out{{SortedTable(context.memory), first}, 0, {}};
  RecordEndSearch search(dialect.delimiter, dialect.header, first, out.records);
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kPieceBytes, file.bytes())));
  context.progress->expect_bytes(file.bytes());
  for (int64_t at = first; at < file.bytes();) {
    if (context.cancelled())
      return error(Code::kCancelled, file.path(), ": cancelled while records were looked for");
    const int64_t bytes = std::min(kPieceBytes, file.bytes() - at);
    // Copied out, because a file that is cut while its mapping is read would raise SIGBUS.
    DL_RETURN_IF_ERROR(file.read(at, bytes, piece.data()));
    search.take({reinterpret_cast<const char*>(piece.data()), static_cast<size_t>(bytes)});
    at += bytes;
    context.progress->add_bytes(bytes);
    context.report("looking for records in ", file.path());
  }
  if (!search.finish()) {
    return error(Code::kTruncated, file.path(), ": offset ", search.begin(),
                 ": in this record a quote is opened and never closed");
  }
  out.longest = search.longest();
  if (search.lacks_header()) return error(Code::kEmpty, file.path(), ": no header that names columns");
  if (dialect.header) {
    DL_ASSIGN_OR_RETURN(out.header, header_text(file, {first, out.records.begin - first}));
  }
  return out;
}

std::string_view csv_record_text(std::string_view record) {
  while (record.starts_with('\n') || record.starts_with("\r\n"))
    record.remove_prefix(record.starts_with('\n') ? 1 : 2);
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace dataline
