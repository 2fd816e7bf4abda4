// Where a damaged archive goes on, and which of its members lost or gained bytes: TarMembers with `skip_damage`.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/names.h"
#include "core/source/tar/tar_members.h"

namespace dataline {
namespace {

constexpr int64_t kSearchBytes = 64 << 10;
constexpr std::string_view kUstar = "ustar";
constexpr size_t kUstarAt = 257;
constexpr std::string_view kArchiveSuffixes[] = {".tar"};

std::string_view view_of(const std::byte* bytes, int64_t count) {
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(count)};
}

}  // namespace

Result<bool> TarMembers::next(TarMember& member) {
  for (;;) {
    const int64_t before = offset_;
    member = {};
    Result<bool> found = next_whole(member);
    if (found.is_ok() && (!skips_ || !found.value())) return found;
    Status damage;
    std::optional<int64_t> search = before + 1;
    if (found.is_ok()) {
      DL_ASSIGN_OR_RETURN(search, doubt(member, damage));
      if (!search) return true;
    } else {
      damage = found.take_status();
      const Code code = damage.code();
      if (skips_ && code == Code::kTruncated) {
        const int64_t begin = std::max(before, member.header_offset) + 1;
        DL_ASSIGN_OR_RETURN(search, header_within(member, begin, file_.bytes(), false));
      }
      if (code == Code::kTruncated && end_ == TarEnd::kCut && before != 0 && !(skips_ && search)) {
        offset_ = before;
        cut_ = true;
        return false;
      }
      if (!skips_ || !search || (code != Code::kCorrupt && code != Code::kTruncated)) return damage;
    }
    DL_ASSIGN_OR_RETURN(const bool more, skip_to_header(before, *search, std::move(damage)));
    if (!more) return false;
  }
}

TarMembers::Found TarMembers::found_of(int64_t offset, const TarHeader& header) {
  return {offset, header.bytes, header.type, std::string(header.name), !header.prefix.empty()};
}

// The first POSIX or GNU header that begins at `from` or behind it, and before `limit`.
Result<std::optional<TarMembers::Found>> TarMembers::find_header(int64_t from, int64_t limit) {
  for (int64_t at = from; at < limit && extent_fits(at, kTarBlockBytes, file_.bytes());) {
    const int64_t wanted = std::min(limit - at, kSearchBytes) + kTarBlockBytes - 1;
    const int64_t bytes = std::min(wanted, file_.bytes() - at);
    DL_ASSIGN_OR_RETURN(const std::byte* const piece, window_.at(at, bytes));
    const std::string_view text = view_of(piece, bytes);
    const auto starts = static_cast<size_t>(bytes - kTarBlockBytes + 1);  // where a header can begin
    for (size_t magic = text.find(kUstar, kUstarAt); magic != std::string_view::npos;
         magic = text.find(kUstar, magic + 1)) {
      const size_t start = magic - kUstarAt;
      if (start >= starts) break;
      const int64_t offset = at + static_cast<int64_t>(start);
      const Result<TarHeader> header = parse_tar_header(file_.path(), offset, piece + start);
      // Zeros before a header whose name lost as many have the same sum.
      if (!header.is_ok() || header.value().name.empty()) continue;
      return std::optional(found_of(offset, header.value()));
    }
    at += static_cast<int64_t>(starts);
  }
  return std::optional<Found>();
}

Result<int64_t> TarMembers::first_byte_behind(int64_t from) {
  for (int64_t at = from; at < file_.bytes(); at += kSearchBytes) {
    const int64_t bytes = std::min(kSearchBytes, file_.bytes() - at);
    DL_ASSIGN_OR_RETURN(const std::byte* const piece, window_.at(at, bytes));
    const size_t found = view_of(piece, bytes).find_first_not_of('\0');
    if (found != std::string_view::npos) return at + static_cast<int64_t>(found);
  }
  return file_.bytes();
}

// Goes from header to header, from the one at `at` on. To the end mark, to `limit` or beyond it, or to where no header is.
Result<TarMembers::Chain> TarMembers::follow(int64_t at, int64_t limit) {
  while (at < limit && extent_fits(at, kTarBlockBytes, file_.bytes())) {
    DL_ASSIGN_OR_RETURN(const std::byte* const block, window_.at(at, kTarBlockBytes));
    if (is_zero_block(block)) return Chain{at, Chain::How::kEndMark};
    const Result<TarHeader> header = parse_tar_header(file_.path(), at, block);
    if (!header.is_ok()) return Chain{at, Chain::How::kGoesOn};
    const int64_t data = at + kTarBlockBytes;
    if (header.value().bytes > file_.bytes() - data) return Chain{at, Chain::How::kRunsOut};
    at = data + round_up(header.value().bytes, kTarBlockBytes);
  }
  return Chain{at, at > file_.bytes() ? Chain::How::kRunsOut : Chain::How::kGoesOn};
}

// The first header between the two that belongs to this archive, not to one that is the data of `member`. An archive that is a member
// ends there, with an end mark that is not the last. `whole`: `member` does not go on beyond the file; else what may be within it, is cut
// with it.
Result<std::optional<int64_t>> TarMembers::header_within(const TarMember& member, int64_t from, int64_t limit,
                                                         bool whole) {
  const bool archive = has_suffix(member.name, kArchiveSuffixes);
  const int64_t data_offset = member.data_offset;
  for (;;) {
    DL_ASSIGN_OR_RETURN(const std::optional<Found> found, find_header(from, limit));
    if (!found) return std::optional<int64_t>();
    DL_ASSIGN_OR_RETURN(const Chain chain, follow(found->offset, limit));
    if (chain.how == Chain::How::kRunsOut && !whole) return std::optional<int64_t>();
    if (chain.how != Chain::How::kEndMark) return std::optional(found->offset);
    DL_ASSIGN_OR_RETURN(const int64_t behind, first_byte_behind(chain.end));
    const bool last = behind == file_.bytes() && !(archive && found->offset == data_offset);
    if (last) return std::optional(found->offset);
    from = chain.end;
  }
}

// Where to look for the next header if the member, which was read, may have lost or gained bytes, and why; nothing: it is handed out.
Result<std::optional<int64_t>> TarMembers::doubt(const TarMember& member, Status& why) {
  const std::optional<int64_t> handed_out;
  if (member.bytes == 0) return handed_out;
  const int64_t header = member.header_offset, data_end = member.data_offset + member.bytes, end = offset_;
  DL_ASSIGN_OR_RETURN(const std::optional<int64_t> within,
                      header_within(member, member.data_offset, end, true));
  const auto doubted = [&](const auto&... what) {
    return error(Code::kCorrupt, file_.path(), ": offset ", header, ": member ", printable(name_), " of ",
                 member.bytes, " bytes ", what...);
  };
  if (within) {
    why = doubted("is truncated: its data contains another header, at offset ", *within);
    return within;
  }
  if (end == file_.bytes()) return handed_out;
  bool header_follows = false;  // or what is left of one
  if (extent_fits(end, kTarBlockBytes, file_.bytes())) {
    DL_ASSIGN_OR_RETURN(const std::byte* const block, window_.at(end, kTarBlockBytes));
    if (const Result<TarHeader> next = parse_tar_header(file_.path(), end, block); next.is_ok()) {
      DL_ASSIGN_OR_RETURN(const bool extended,
                          follows_extension(member.data_offset, found_of(end, next.value())));
      if (!extended) return handed_out;
      why = doubted("is truncated: its data ends in the long name or the pax header of the next member");
      return std::optional(end);
    }
    header_follows =
        is_zero_block(block) || view_of(block, kTarBlockBytes).substr(kUstarAt).starts_with(kUstar);
  }
  // What follows is damaged, or the end. Bytes that were put into the data move its last ones to where zeros were, and what follows by as
  // many. Data that fills its last block has no zeros behind it.
  DL_ASSIGN_OR_RETURN(const int64_t used, first_byte_behind(data_end));
  const auto in_blocks = [&](int64_t offset) { return (offset - end) % kTarBlockBytes == 0; };
  bool moved = used < end;
  if (moved && in_blocks(file_.bytes())) {  // some writers fill the last block with anything
    DL_ASSIGN_OR_RETURN(const int64_t behind, first_byte_behind(end));
    moved = behind < file_.bytes();
  } else if (!moved && used < file_.bytes()) {
    DL_ASSIGN_OR_RETURN(const std::optional<Found> next, find_header(end, file_.bytes()));
    const bool shifted = next && !in_blocks(next->offset);
    moved = data_end == end ? shifted || !header_follows : shifted && used >= next->offset;
  }
  if (!moved) return handed_out;
  why = doubted("may have lost or gained bytes: no header follows it at offset ", end);
  return std::optional(end);
}

// Whether the text of a pax header or a long name, which begins at `from` or behind it, ends right before the header: its own header is
// lost.
Result<bool> TarMembers::follows_extension(int64_t from, const Found& found) {
  constexpr size_t kNameBytes = 100;
  constexpr int64_t kMostBlocks = 8;
  if (is_tar_extension(found.type)) return false;
  const int64_t blocks = std::min((found.offset - from) / kTarBlockBytes, kMostBlocks);
  if (blocks <= 0) return false;
  const int64_t begin = found.offset - blocks * kTarBlockBytes;
  DL_ASSIGN_OR_RETURN(const std::byte* const data, window_.at(begin, found.offset - begin));
  const std::string_view text = view_of(data, found.offset - begin);
  for (int64_t bytes = kTarBlockBytes; bytes <= found.offset - begin; bytes += kTarBlockBytes) {
    const std::string_view last = text.substr(text.size() - static_cast<size_t>(bytes));
    if (found.name.size() >= kNameBytes && last.starts_with(found.name)) return true;
    const int64_t records = pax_records_bytes(last);
    if (records > 0 && round_up(records, kTarBlockBytes) == bytes) return true;
  }
  return false;
}

// Whether what is lost from `from` on may have said a name or a size of the member whose header was found: a pax header or a long name
// right before it, whose own header or text is damaged. A name that fills its field may be the start of a longer one.
Result<bool> TarMembers::may_be_extended(int64_t from, const Found& found) {
  constexpr size_t kNameBytes = 100;
  if (is_tar_extension(found.type) || found.offset - from < kTarBlockBytes) return false;
  if (found.name.size() >= kNameBytes && !found.has_prefix) return true;
  DL_ASSIGN_OR_RETURN(const std::byte* const lost, window_.at(from, kTarBlockBytes));
  const Result<TarHeader> read = parse_tar_header(file_.path(), from, lost);
  if (!read.is_ok()) {  // names that writers give such headers
    const std::string_view text = view_of(lost, kTarBlockBytes);
    if (text.starts_with("././@") || text.find("/PaxHeaders") != std::string_view::npos) return true;
  } else if (is_tar_extension(read.value().type) &&
             from + kTarBlockBytes + round_up(read.value().bytes, kTarBlockBytes) == found.offset) {
    return true;
  }
  return follows_extension(from, found);
}

// To the first header at `at` or behind it; what lies between it and `from` is lost. False: there is none. As given, where the archive
// has none at all.
Result<bool> TarMembers::skip_to_header(int64_t from, int64_t at, Status cause) {
  bool found = false;
  while (!found) {
    DL_ASSIGN_OR_RETURN(const std::optional<Found> next, find_header(at, file_.bytes()));
    at = next ? next->offset : file_.bytes();
    if (!next) break;
    DL_ASSIGN_OR_RETURN(const bool doubtful, may_be_extended(from, *next));
    found = !doubtful;
    if (!doubtful) continue;
    const int64_t data = at + kTarBlockBytes;
    at = next->bytes < file_.bytes() - data ? data + round_up(next->bytes, kTarBlockBytes) : file_.bytes();
  }
  if (!found && from == 0) return cause;
  losses_.push_back({from, at - from, std::move(cause)});
  offset_ = at;
  return found;
}

}  // namespace dataline
