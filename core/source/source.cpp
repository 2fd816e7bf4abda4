// SPDX-License-Identifier: Apache-2.0
#include "core/source/source.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/message_text.h"

namespace dataline {

namespace {

constexpr std::string_view kCut = "...";

Status with_message(const Status& status, std::string message) {
  return Status(status.code(), std::move(message))
      .with_os_error(status.os_error())
      .with_sample(status.sample_index())
      .with_column(status.column());
}

constexpr size_t kMinPathBytes = 64;  // left for the path beside a long `within`

}  // namespace

Result<const std::byte*> Source::locate_items(const Run&, const ItemRange& range, std::byte*) const {
  return error(Code::kUnsupported, info().format, ": record ", range.index, " cannot be read in parts");
}

Schema column_per_field(std::vector<Field> fields) {
  Schema schema;
  for (size_t f = 0; f < fields.size(); ++f) {
    schema.places.push_back({static_cast<int32_t>(f), 0, false});
    schema.columns.push_back({fields[f].bytes()});
  }
  schema.fields = std::move(fields);
  return schema;
}

void cut_evenly(int64_t records, int64_t record_bytes, int64_t block_bytes, BlockEnds& ends) {
  __extension__ typedef __int128 i128;
  if (records == 0) return;
  const int64_t begin = ends.empty() ? 0 : ends.back();
  const int64_t most = std::max<int64_t>(block_bytes / record_bytes, 1);
  const int64_t blocks = (records - 1) / most + 1;
  for (int64_t i = 1; i <= blocks; ++i)
    ends.push_back(begin + static_cast<int64_t>(static_cast<i128>(records) * i / blocks));
}

void Source::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  cut_evenly(count(), stored_bytes(), block_bytes, ends);
}

int64_t Source::stored_bytes() const {
  int64_t bytes = 0;
  for (const Column& column : schema().columns)
    bytes += column.row_bytes < 0 ? kRaggedBlockBytes : column.row_bytes;
  return std::max<int64_t>(bytes, 1);
}

void Source::advise_block(int64_t first, int64_t count) const {
  std::array<int64_t, kMaxRunRecords> indices;
  while (count > 0) {
    const auto some = static_cast<size_t>(std::min(count, kMaxRunRecords));
    std::iota(indices.begin(), indices.begin() + some, first);
    advise({indices.data(), some});
    first += static_cast<int64_t>(some);
    count -= static_cast<int64_t>(some);
  }
}

std::string tail_of(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return concat(kCut, end_of(text, max_bytes - std::min(max_bytes, kCut.size())));
}

std::string place_text(const Place& place) {
  if (place.path.empty()) return tail_of(place.within, kMaxPlaceBytes);
  if (place.within.empty()) return tail_of(place.path, kMaxPlaceBytes);
  const std::string within = tail_of(place.within, kMaxPlaceBytes - kMinPathBytes - 2);
  return concat(tail_of(place.path, kMaxPlaceBytes - within.size() - 2), ": ", within);
}

void shorten_places(const Source& source, const Run& run) {
  for (RowError& failed : run.errors->all()) {
    for (size_t c = 0; c < source.schema().columns.size(); ++c) {
      const std::string path = source.place_of(run.indices[failed.row], c).path;
      const size_t at = path.size() > kMaxPlaceBytes ? failed.status.message().find(path) : std::string::npos;
      if (at == std::string::npos) continue;
      std::string message = failed.status.message();
      message.replace(at, path.size(), tail_of(path, kMaxPlaceBytes));
      failed.status = with_message(failed.status, std::move(message));
      break;
    }
  }
}

void name_places(const Source& source, const Run& run, size_t column, size_t first) {
  std::vector<RowError>& errors = run.errors->all();
  for (size_t i = first; i < errors.size(); ++i) {
    Status& status = errors[i].status;
    const std::string place = place_text(source.place_of(run.indices[errors[i].row], column));
    status = with_message(status, concat(place, ": ", status.message()));
  }
}

}  // namespace dataline
