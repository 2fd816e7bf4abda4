// SPDX-License-Identifier: Apache-2.0
#include "core/source/csv/csv_records.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/source/csv/csv_lines.h"
#include "core/source/text_encoding.h"

namespace dataline {
namespace {

constexpr int64_t kPieceBytes = int64_t{1}
                                << 20;            // read at once; also the step of cancelling and of progress
constexpr int64_t kMaxHeader = int64_t{8} << 20;  // is copied: 32 bytes a name of the most columns

// Puts lines together to records: blank ones belong to the record after them.
class RecordEndSearch {
 public:
  // A header is none of `out`, which begins behind it.
  RecordEndSearch(const CsvDialect& dialect, int64_t first, RecordEnds& out)
      : lines_(dialect.delimiter), lacks_header_(dialect.header), first_(first), begin_(first), out_(out) {}

  void take(std::string_view piece) {
    lines_.take(piece, [this](int64_t end, bool blank) { end_line(first_ + end, blank); });
  }
  // The file ends here. False: within quotes.
  bool finish() {
    if (lines_.within_quotes()) return false;
    const int64_t end = first_ + lines_.taken();
    if (end > begin_) end_line(end, lines_.blank());
    return true;
  }
  // Of the record that is not whole.
  int64_t begin() const { return begin_; }
  int64_t longest() const { return longest_; }
  bool lacks_header() const { return lacks_header_; }

 private:
  void end_line(int64_t end, bool blank) {
    begin_ = end;
    if (blank) return;
    if (lacks_header_) {
      lacks_header_ = false;
      out_.begin = end;
      return;
    }
    longest_ = std::max(longest_, end - out_.boundary(out_.count()));
    out_.ends.add(end);
  }

  CsvLines lines_;
  bool lacks_header_;
  const int64_t first_;  // byte of the file that is searched
  int64_t begin_;        // of the line
  int64_t longest_ = 0;
  RecordEnds& out_;
};

Result<std::string> header_text(const MappedFile& file, const FileExtent& extent) {
  if (extent.bytes > kMaxHeader) {
    return error(Code::kTooLarge, file.path(), ": offset ", extent.offset, ": the header has ", extent.bytes,
                 " bytes, at most ", kMaxHeader);
  }
  std::string text(static_cast<size_t>(extent.bytes), '\0');
  DL_RETURN_IF_ERROR(file.read(extent.offset, extent.bytes, reinterpret_cast<std::byte*>(text.data())));
  return text;
}

}  // namespace

Result<CsvRecords> find_csv_records(const MappedFile& file, const CsvDialect& dialect,
                                    const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const int64_t first, bytes_before_text(file));
  CsvRecords out{{SortedTable(context.memory), first}, 0, {}};
  RecordEndSearch search(dialect, first, out.records);
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kPieceBytes, file.bytes())));
  context.progress->expect_bytes(file.bytes());
  for (int64_t at = first; at < file.bytes();) {
    if (context.cancelled())
      return error(Code::kCancelled, file.path(), ": cancelled while searching for records");
    const int64_t bytes = std::min(kPieceBytes, file.bytes() - at);
    // Copied out, because a file that is cut while its mapping is read would raise SIGBUS.
    DL_RETURN_IF_ERROR(file.read(at, bytes, piece.data()));
    search.take({reinterpret_cast<const char*>(piece.data()), static_cast<size_t>(bytes)});
    at += bytes;
    context.progress->add_bytes(bytes);
    context.report("searching for records in ", file.path());
  }
  if (dialect.cut && search.begin() < file.bytes()) {
    out.cut_at = search.begin();
  } else if (!search.finish()) {
    return error(Code::kTruncated, file.path(), ": offset ", search.begin(),
                 ": this record has a quote that is never closed");
  }
  out.longest = search.longest();
  if (search.lacks_header())
    return error(out.cut_at >= 0 ? Code::kCorrupt : Code::kEmpty, file.path(),
                 ": expected a header that names columns");
  if (dialect.header) {
    DL_ASSIGN_OR_RETURN(out.header, header_text(file, {first, out.records.begin - first}));
  }
  return out;
}

std::string_view csv_record_text(std::string_view record, char delimiter) {
  for (;;) {
    const size_t blanks = csv_blanks(record, delimiter);
    if (blanks == record.size() || record[blanks] != '\n') break;
    record.remove_prefix(blanks + 1);
  }
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace dataline
