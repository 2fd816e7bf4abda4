// SPDX-License-Identifier: Apache-2.0
#include "core/source/documents/documents.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

// A document of zero tokens still needs an address: null means that the row failed.
constexpr std::byte kNoTokens{};

// Whether a token of this type can have the value; of u64 those below 2^63.
bool holds(DType dtype, int64_t value) {
  const int64_t bits = dtype_bytes(dtype) * 8;
  const bool is_signed =
      dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 || dtype == DType::kI64;
  if (bits == 64) return is_signed || value >= 0;
  const int64_t most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return value >= (is_signed ? -most - 1 : 0) && value <= most;
}

}  // namespace

SourceRef DocumentFile::create(MappedFile file, const TokenSpan& tokens, SortedTable ends, SourceInfo info) {
  Facts facts;
  Digest digest;
  int64_t begin = 0;
  for (int64_t i = 0; i < ends.size(); ++i) {
    const int64_t end = ends[i];
    facts.longest = std::max(facts.longest, end - begin);
    digest.add(static_cast<uint64_t>(end));
    begin = end;
  }
  facts.digest = digest.value();
  return SourceRef(new DocumentFile(std::move(file), tokens, std::move(ends), std::move(info), facts));
}

DocumentFile::DocumentFile(MappedFile file, const TokenSpan& tokens, SortedTable ends, SourceInfo info,
                           const Facts& facts)
    : AdjacentRecords(std::move(file),
                      column_per_field({{"tokens",
                                         FieldKind::kRagged,
                                         tokens.dtype,
                                         {-1},
                                         "T",
                                         facts.longest * dtype_bytes(tokens.dtype)}}),
                      std::move(info), {std::move(ends), 0, tokens.data_offset, dtype_bytes(tokens.dtype)}),
      swapped_(tokens.swapped && dtype_bytes(tokens.dtype) > 1),
      ends_digest_(facts.digest) {}

int64_t DocumentFile::room_bytes(int64_t max_bytes_per_sample) const {
  return round_up(std::min(schema_.fields[0].max_bytes, max_bytes_per_sample), kScratchAlignment);
}

int64_t DocumentFile::scratch_bytes(int64_t max_bytes_per_sample) const {
  return copies() ? room_bytes(max_bytes_per_sample) : 0;
}

Result<const std::byte*> DocumentFile::locate_range(const ItemRange& range, bool populate,
                                                    const CancelFlag* cancelled, std::byte* room) const {
  const FileExtent extent = extent_of_items(range);
  if (extent.bytes == 0) return &kNoTokens;
  if (populate && file_.addressable()) DL_RETURN_IF_ERROR(file_.populate(extent.offset, extent.bytes));
  if (!copies()) return file_.at(extent.offset);
  DL_RETURN_IF_ERROR(file_.read(extent.offset, extent.bytes, room, cancelled));
  if (swapped_) convert_bytes(swap_conversion(schema_.fields[0].dtype), room, extent.bytes, room);
  return static_cast<const std::byte*>(room);
}

Result<const std::byte*> DocumentFile::locate_items(const Run& run, const ItemRange& range,
                                                    std::byte* room) const {
  const bool whole = check_before(run.opened_ns);
  return locate_range(range, run.cold || !whole, run.cancelled, room);
}

void DocumentFile::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const int64_t room = room_bytes(run.max_bytes_per_sample);
  Run::ColumnRows& rows = run.columns[0];
  rows.contiguous = false;
  for (int64_t i = 0; i < run.count; ++i) {
    const ItemRange range{run.indices[i], 0, record_items(run.indices[i])};
    rows.bytes[i] = extent_of(range.index).bytes;
    if (copies() && rows.bytes[i] > room) {
      run.fail(i, 1,
               error(Code::kTooLarge, file_.path(), ": document ", range.index, ", offset ",
                     extent_of(range.index).offset, ": ", rows.bytes[i], " bytes, max_bytes_per_sample is ",
                     run.max_bytes_per_sample));
      continue;
    }
    Result<const std::byte*> found =
        locate_range(range, populate, run.cancelled, copies() ? run.scratch + i * room : nullptr);
    if (found.is_ok()) {
      rows.data[i] = found.value();
    } else {
      run.fail(i, 1, found.take_status());
    }
  }
}

void DocumentFile::advise_items(const ItemRange& range) const {
  const FileExtent extent = extent_of_items(range);
  file_.advise(extent.offset, extent.bytes);
}

Place DocumentFile::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("document ", index, ", offset ", extent_of(index).offset)};
}

void DocumentFile::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("documents");
  identity.add_file(file_);
  identity.add(static_cast<uint64_t>(records_.origin));
  identity.add(ends_digest_);
}

Result<SourceRef> open_documents(MappedFile file, const TokenSpan& tokens, const DocumentRule& rule,
                                 SourceInfo info, const OpenContext& context) {
  const bool by_token = rule.offsets.empty();
  if (by_token && !holds(tokens.dtype, rule.eot)) {
    return error(Code::kMismatch, file.path(), ": documents=eot:", rule.eot, ": its tokens are ",
                 dtype_name(tokens.dtype), ", which cannot hold ", rule.eot);
  }
  DL_ASSIGN_OR_RETURN(SortedTable ends, by_token ? find_ends(file, tokens, rule.eot, "documents", context)
                                                 : read_ends(rule.offsets, tokens.token_count, context));
  if (by_token && ends.size() == 1 && tokens.token_count > 1) {
    info.notes.push_back(concat(file.path(), ": no token ", rule.eot, " before the end: one document of ",
                                tokens.token_count, " tokens"));
  }
  if (ends.size() == 0) info.notes.push_back(concat(file.path(), ": no documents"));
  return DocumentFile::create(std::move(file), tokens, std::move(ends), std::move(info));
}

}  // namespace dataline
