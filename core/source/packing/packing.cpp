// SPDX-License-Identifier: Apache-2.0
#include "core/source/packing/packing.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/source/composed/parts.h"
#include "core/source/identity.h"
#include "core/source/packing/pack_table.h"
#include "core/source/packing/row_writer.h"

namespace dataline {
namespace {

constexpr int64_t kColumnAlignment = 64;
enum PackedColumn : size_t { kX, kY, kSegment, kPosition, kBorders, kColumns };

std::string_view method_name(PackMethod method) {
  return method == PackMethod::kConcat ? "concat" : "best_fit";
}

// "12.34" for part / whole in hundredths.
std::string hundredths(double value) {
  const int64_t all = std::llround(value * 100);
  const int64_t rest = all % 100;
  return concat(all / 100, rest < 10 ? ".0" : ".", rest);
}

class Packed final : public Source {
 public:
  Packed(SourceRef documents, const PackOptions& options, std::unique_ptr<const PackTable> table)
      : documents_(std::move(documents)),
        options_(options),
        table_(std::move(table)),
        tokens_(documents_->schema().fields[0].dtype),
        token_bytes_(dtype_bytes(tokens_)),
        write_targets_(write_targets_function(tokens_)),
        write_none_(write_no_targets_function(tokens_)) {
    const int64_t length = options_.length;
    // Every piece begins somewhere, padding too, and the last border is the row's end.
    const int64_t border_bytes = (table_->facts().most_pieces + 2) * int64_t{sizeof(int32_t)};
    schema_ = column_per_field({{"x", FieldKind::kDense, tokens_, {length}, "T", -1},
                                {"y", FieldKind::kDense, target_dtype(tokens_), {length}, "T", -1},
                                {"segment", FieldKind::kDense, DType::kI32, {length}, "T", -1},
                                {"position", FieldKind::kDense, DType::kI32, {length}, "T", -1},
                                {"cu_seqlens", FieldKind::kRagged, DType::kI32, {-1}, "", border_bytes}});
    int64_t offset = 0;
    for (size_t c = 0; c < kColumns; ++c) {
      offsets_[c] = offset;
      // x has room for the token after the row: the target of its last one.
      const int64_t bytes = c == kX         ? (length + 1) * token_bytes_
                            : c == kBorders ? border_bytes
                                            : schema_.columns[c].row_bytes;
      offset += round_up(bytes, kColumnAlignment);
    }
    row_scratch_bytes_ = offset;
    packing_ = packing_text();
    facts_ = documents_->facts();
    facts_.classes = nullptr;
    facts_.mix = nullptr;
    facts_.packing = packing_;
  }

  int64_t count() const override { return table_->rows(); }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override;
  const SourceFacts& facts() const override { return facts_; }
  void locate(Run& run) const override;
  bool unchanged(const ReadSpan& span) const override { return documents_->unchanged(span); }
  void confirm(Run& run, const ReadSpan& span) const override;
  int64_t scratch_bytes(int64_t) const override { return row_scratch_bytes_; }
  void advise(std::span<const int64_t> indices) const override;
  void advise_block(int64_t first, int64_t count) const override { Source::advise_block(first, count); }
  bool cached(int64_t index) const override {
    PackTable::Cursor cursor = table_->begin(index);
    return documents_->cached(table_->next(cursor).index);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    Source::append_blocks(block_bytes, ends);
  }
  // Tokens: the other fields are not stored.
  int64_t stored_bytes() const override { return options_.length * token_bytes_; }
  int64_t record_items(int64_t) const override { return -1; }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    return Source::locate_items(run, range, room);
  }
  void advise_items(const ItemRange&) const override {}
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add(packing_);
    documents_->identify(identity);
  }
  // Rows have the tokens of many documents.
  std::optional<uint64_t> stamp(int64_t) const override { return std::nullopt; }

 private:
  std::string packing_text() const;
  Status write_row(Run& run, int64_t row, std::byte* scratch) const;
  Result<const std::byte*> write_piece(const Run& run, const ItemRange& piece, int64_t at,
                                       std::byte* scratch) const;

  const SourceRef documents_;
  const PackOptions options_;
  const std::unique_ptr<const PackTable> table_;
  const DType tokens_;
  const int64_t token_bytes_;
  const WriteTargets write_targets_;
  const WriteNoTargets write_none_;
  Schema schema_;
  std::array<int64_t, kColumns> offsets_{};  // of the columns in a row's scratch
  int64_t row_scratch_bytes_ = 0;
  std::string packing_;
  SourceFacts facts_;
};

std::string Packed::packing_text() const {
  Digest digest;
  digest.add(table_->digest());
  std::string text = concat(method_name(options_.method), ", length ", options_.length);
  if (options_.method == PackMethod::kBestFit)
    text += concat(", window ", options_.window, ", split ", options_.split ? "true" : "false");
  return concat(text, ", rows ", count(), ", table ", digest.hex());
}

SourceInfo Packed::info() const {
  SourceInfo info = documents_->info();
  const PackFacts& facts = table_->facts();
  const auto rows = static_cast<double>(count()), tokens = static_cast<double>(facts.tokens);
  const double room = rows * static_cast<double>(options_.length);
  const auto documents = static_cast<double>(facts.documents);
  info.notes.push_back(concat(
      "packed (", method_name(options_.method), "): ", facts.documents, " documents of ", facts.tokens,
      " tokens (mean ", hundredths(documents > 0 ? tokens / documents : 0), ", longest ", facts.longest,
      ") into ", count(), " rows of ", options_.length, ": ", hundredths(rows > 0 ? documents / rows : 0),
      " documents a row, ", hundredths(room > 0 ? (room - tokens) / room * 100 : 0), " % padding"));
  return info;
}

void Packed::locate(Run& run) const {
  for (size_t c = 0; c < kColumns; ++c) run.columns[c].contiguous = false;
  for (int64_t i = 0; i < run.count; ++i) {
    Status status = write_row(run, i, run.scratch + i * row_scratch_bytes_);
    if (!status.is_ok()) run.fail(i, kColumns, std::move(status));
  }
}

// The tokens of a piece, the `at`-th of the row on; its targets are written.
Result<const std::byte*> Packed::write_piece(const Run& run, const ItemRange& piece, int64_t at,
                                             std::byte* scratch) const {
  const bool more = piece.first + piece.count < documents_->record_items(piece.index);
  const ItemRange wanted{piece.index, piece.first, piece.count + static_cast<int64_t>(more)};
  DL_ASSIGN_OR_RETURN(const std::byte* tokens,
                      documents_->locate_items(run, wanted, scratch + offsets_[kX] + at * token_bytes_));
  const int64_t target_bytes = dtype_bytes(schema_.fields[kY].dtype);
  write_targets_(tokens, piece.count, more, scratch + offsets_[kY] + at * target_bytes);
  return tokens;
}

// Tokens that lie in memory as the row has them (joined documents, one document, and what was read into x) are not copied.
Status Packed::write_row(Run& run, int64_t row, std::byte* scratch) const {
  std::byte* const x = scratch + offsets_[kX];
  auto* const segment = reinterpret_cast<int32_t*>(scratch + offsets_[kSegment]);
  auto* const position = reinterpret_cast<int32_t*>(scratch + offsets_[kPosition]);
  auto* const borders = reinterpret_cast<int32_t*>(scratch + offsets_[kBorders]);
  PackTable::Cursor cursor = table_->begin(run.indices[row]);
  const std::byte* found = x;  // where the tokens so far lie, one after another
  int64_t at = 0;
  int32_t pieces = 0;
  for (ItemRange piece = table_->next(cursor); piece.count > 0; piece = table_->next(cursor)) {
    if (pieces == table_->facts().most_pieces)
      return error(Code::kOutOfRange, "packing: the lengths of documents have changed");
    DL_ASSIGN_OR_RETURN(const std::byte* tokens, write_piece(run, piece, at, scratch));
    if (at == 0) found = tokens;
    const bool joins = tokens == found + at * token_bytes_;
    if (!joins && found != x) {
      std::memcpy(x, found, static_cast<size_t>(at * token_bytes_));
      found = x;
    }
    if (!joins) std::memcpy(x + at * token_bytes_, tokens, static_cast<size_t>(piece.count * token_bytes_));
    borders[pieces++] = static_cast<int32_t>(at);
    fill_i32(segment + at, piece.count, pieces);
    count_i32(position + at, piece.count);
    at += piece.count;
  }
  if (const int64_t padding = options_.length - at; padding > 0) {
    if (found != x) std::memcpy(x, found, static_cast<size_t>(at * token_bytes_));
    found = x;
    std::memset(x + at * token_bytes_, 0, static_cast<size_t>(padding * token_bytes_));
    write_none_(scratch + offsets_[kY] + at * dtype_bytes(schema_.fields[kY].dtype), padding);
    borders[pieces++] = static_cast<int32_t>(at);
    fill_i32(segment + at, padding, 0);
    count_i32(position + at, padding);
  }
  borders[pieces] = static_cast<int32_t>(options_.length);
  run.columns[kX].data[row] = found;
  for (size_t c = kY; c < kColumns; ++c) run.columns[c].data[row] = scratch + offsets_[c];
  run.columns[kBorders].bytes[row] = (pieces + 1) * int64_t{sizeof(int32_t)};
  return Status::ok();
}

void Packed::confirm(Run& run, const ReadSpan& span) const {
  for (int64_t i = 0; i < run.count; ++i) {
    PackTable::Cursor cursor = table_->begin(run.indices[i]);
    for (ItemRange piece = table_->next(cursor); piece.count > 0; piece = table_->next(cursor))
      confirm_record(*documents_, piece.index, run, i, span);
  }
}

// Whole documents together, so that neighbours are one request; parts by themselves, or each row of a long document would ask
// for all of it.
void Packed::advise(std::span<const int64_t> indices) const {
  std::array<int64_t, kMaxRunRecords> whole;
  size_t count = 0;
  const auto flush = [&] {
    documents_->advise({whole.data(), count});
    count = 0;
  };
  for (const int64_t index : indices) {
    PackTable::Cursor cursor = table_->begin(index);
    for (ItemRange piece = table_->next(cursor); piece.count > 0; piece = table_->next(cursor)) {
      if (piece.count < documents_->record_items(piece.index)) {
        documents_->advise_items(piece);
        continue;
      }
      whole[count++] = piece.index;
      if (count == whole.size()) flush();
    }
  }
  flush();
}

Place Packed::place_of(int64_t index, size_t) const {
  PackTable::Cursor cursor = table_->begin(index);
  const ItemRange piece = table_->next(cursor);
  Place place = documents_->place_of(piece.index, 0);
  place.within = concat("row ", index, ", from token ", piece.first, " of ", place.within);
  return place;
}

}  // namespace

Status check_documents(const Source& documents) {
  const std::vector<Field>& fields = documents.schema().fields;
  std::string list;
  for (const Field& field : fields)
    list += concat(list.empty() ? "" : ", ", field.name, " ", field_type_text(field));
  const bool fits = fields.size() == 1 && fields[0].kind == FieldKind::kRagged &&
                    fields[0].shape.size() == 1 && dtype_is_integer(fields[0].dtype);
  if (documents.count() >= 0 && fits) return Status::ok();
  const bool packed = !documents.facts().packing.empty();
  return error(Code::kUnsupported, "packing needs documents, one ragged field of integers, got ", list,
               packed ? "; they are already packed" : "; open tokens:FILE?documents=eot:ID");
}

Result<SourceRef> pack_source(SourceRef documents, const PackOptions& options, const OpenContext& context) {
  DL_RETURN_IF_ERROR(check_documents(*documents));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<const PackTable> table, PackTable::build(*documents, options, context));
  return SourceRef(std::make_shared<Packed>(std::move(documents), options, std::move(table)));
}

Status check_packing_words(const Uri& uri) {
  for (const KeySpec& key : {kPackMethodKey, kPackSplitKey}) {
    if (const UriKey* found = uri.find(key.name)) DL_RETURN_IF_ERROR(check_word(*found, key));
  }
  return Status::ok();
}

Result<std::optional<PackOptions>> uri_packing(const Uri& uri) {
  const UriKey* length = uri.find(kPackLengthKey.name);
  PackOptions options;
  DL_ASSIGN_OR_RETURN(const bool best_fit, uri_is(uri, kPackMethodKey, "best_fit"));
  for (const KeySpec& key : {kPackMethodKey, kPackWindowKey, kPackSplitKey}) {
    const UriKey* found = uri.find(key.name);
    if (found == nullptr) continue;
    if (length == nullptr) return uri_error(found->column, key.name, " needs pack_length");
    if (!best_fit && key.name != kPackMethodKey.name)
      return uri_error(found->column, key.name, " needs pack_method=best_fit; concat joins all documents");
  }
  if (length == nullptr) return std::optional<PackOptions>();
  const auto number = [&](const KeySpec& key, int64_t fallback, int64_t most) -> Result<int64_t> {
    DL_ASSIGN_OR_RETURN(const int64_t value, uri_i64(uri, key.name, fallback, 1));
    if (value > most) return uri_error(uri.find(key.name)->value_column, key.name, " is at most ", most);
    return value;
  };
  DL_ASSIGN_OR_RETURN(options.length, number(kPackLengthKey, 1, kMaxPackLength));
  DL_ASSIGN_OR_RETURN(options.window, number(kPackWindowKey, kDefaultPackWindow, kMaxPackWindow));
  DL_ASSIGN_OR_RETURN(options.split, uri_is(uri, kPackSplitKey, "true"));
  options.method = best_fit ? PackMethod::kBestFit : PackMethod::kConcat;
  return std::optional(options);
}

}  // namespace dataline
