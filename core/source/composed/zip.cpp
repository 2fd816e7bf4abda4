// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"
#include "core/source/composed/composed.h"

#include <algorithm>
#include <utility>

#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"

namespace dataline {
namespace {

class Zip final : public Composed {
 public:
  Zip(std::vector<Part> parts, Schema schema) : Composed("zip", std::move(parts), std::move(schema)) {
    for (const Part& part : parts_) {
      pieces_.push_back({part.source.get(), part.source->schema().columns.size(), PartScratch(*part.source)});
    }
  }

  int64_t count() const override { return parts_.front().source->count(); }

  void locate(Run& run) const override {
    Run part = run;  // shares indices, errors and the columns' arrays
    for (const Piece& piece : pieces_) {
      piece.source->locate(part);
      part.columns += piece.column_count;
      part.scratch += run.count * piece.scratch.bytes(run.max_bytes_per_sample);
    }
    // A row that failed in one part fails in all.
    for (const RowError& failed : run.errors->all()) {
      for (size_t c = 0; c < schema_.columns.size(); ++c) {
        run.columns[c].data[failed.row] = nullptr;
        run.columns[c].contiguous = false;
      }
    }
  }

  bool unchanged(const ReadSpan& span) const override {
    return std::all_of(pieces_.begin(), pieces_.end(),
                       [&](const Piece& p) { return p.source->unchanged(span); });
  }
  void confirm(Run& run, const ReadSpan& span) const override {
    for (const Piece& piece : pieces_) piece.source->confirm(run, span);
  }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    int64_t bytes = 0;
    for (const Piece& piece : pieces_) bytes += piece.scratch.bytes(max_bytes_per_sample);
    return bytes;
  }
  void advise(std::span<const int64_t> indices) const override {
    for (const Piece& piece : pieces_) piece.source->advise(indices);
  }
  void advise_block(int64_t first, int64_t count) const override {
    for (const Piece& piece : pieces_) piece.source->advise_block(first, count);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override;
  int64_t stored_bytes() const override {
    int64_t bytes = 0;
    for (const Piece& piece : pieces_) bytes += piece.source->stored_bytes();
    return std::max<int64_t>(bytes, 1);
  }
  bool cached(int64_t index) const override {
    return std::all_of(pieces_.begin(), pieces_.end(),
                       [&](const Piece& p) { return p.source->cached(index); });
  }
  std::optional<uint64_t> stamp(int64_t index) const override {
    Digest digest;
    for (const Piece& piece : pieces_) {
      const std::optional<uint64_t> part = piece.source->stamp(index);
      if (!part) return std::nullopt;
      digest.add(*part);
    }
    return digest.value();
  }
  // Of the first part that knows.
  int64_t record_items(int64_t index) const override {
    for (const Piece& piece : pieces_) {
      if (const int64_t items = piece.source->record_items(index); items >= 0) return items;
    }
    return -1;
  }
  // Of the only part; several have a field each.
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    if (pieces_.size() > 1) return Source::locate_items(run, range, room);
    return pieces_[0].source->locate_items(run, range, room);
  }
  void advise_items(const ItemRange& range) const override {
    if (pieces_.size() == 1) pieces_[0].source->advise_items(range);
  }
  Place place_of(int64_t index, size_t column) const override {
    size_t part = 0;
    for (; column >= pieces_[part].column_count; ++part) column -= pieces_[part].column_count;
    return place_in_part(part, index, column);
  }

 private:
  struct Piece {
    const Source* source;
    size_t column_count;
    PartScratch scratch;
  };

  std::vector<Piece> pieces_;
};

// The parts' rows are read together: the part with the largest records, of equal ones that with the most files, is cut into blocks
// of its share of block_bytes. Where files of other parts end, blocks end too.
void Zip::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  const int64_t begin = ends.empty() ? 0 : ends.back();
  const Source* largest = nullptr;
  int64_t largest_bytes = 0;
  size_t largest_files = 0;
  std::vector<int64_t> borders;
  BlockEnds own;
  for (const Piece& piece : pieces_) {
    own.clear();
    piece.source->append_blocks(kWholeFiles, own);
    borders.insert(borders.end(), own.begin(), own.end());
    const int64_t bytes = piece.source->stored_bytes();
    if (bytes < largest_bytes || (bytes == largest_bytes && own.size() <= largest_files)) continue;
    largest = piece.source;
    largest_bytes = bytes;
    largest_files = own.size();
  }
  if (block_bytes != kWholeFiles && largest != nullptr) {
    __extension__ typedef __int128 i128;
    own.clear();
    const auto share = static_cast<int64_t>(static_cast<i128>(block_bytes) * largest_bytes / stored_bytes());
    largest->append_blocks(std::max<int64_t>(share, 1), own);
    borders.insert(borders.end(), own.begin(), own.end());
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (const int64_t border : borders) ends.push_back(begin + border);
}

Status check_lengths(const std::vector<Part>& parts) {
  for (size_t i = 1; i < parts.size(); ++i) {
    int64_t first = parts[0].source->count(), count = parts[i].source->count();
    if (count == first) continue;
    return error(Code::kMismatch, "zip: ", part_text(parts, i), " has ", count, " samples, ",
                 part_text(parts, 0), " has ", first);
  }
  return Status::ok();
}

Status check_field_names(const std::vector<Field>& fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Status::ok();
  return error(Code::kMismatch, "zip: two fields are called '", *twice, "'; name the parts");
}

void append_schema(const Part& part, Schema& schema) {
  const Schema& added = part.source->schema();
  auto column_begin = static_cast<int32_t>(schema.columns.size());
  for (size_t f = 0; f < added.fields.size(); ++f) {
    Field field = added.fields[f];
    if (!part.name.empty())
      field.name = added.fields.size() == 1 ? part.name : concat(part.name, "/", field.name);
    schema.fields.push_back(std::move(field));
    FieldPlace place = added.places[f];
    place.column += column_begin;
    schema.places.push_back(place);
  }
  schema.columns.insert(schema.columns.end(), added.columns.begin(), added.columns.end());
}

}  // namespace

Result<SourceRef> zip_sources(std::vector<Part> parts) {
  DL_RETURN_IF_ERROR(check_parts(parts, "zip"));
  for (const Part& part : parts) DL_RETURN_IF_ERROR(refuse_grouped(*part.source, "zip"));
  DL_RETURN_IF_ERROR(check_lengths(parts));
  Schema schema;
  for (const Part& part : parts) append_schema(part, schema);
  DL_RETURN_IF_ERROR(check_field_names(schema.fields));
  return SourceRef(std::make_shared<Zip>(std::move(parts), std::move(schema)));
}

}  // namespace dataline
