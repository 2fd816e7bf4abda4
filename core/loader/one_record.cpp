// SPDX-License-Identifier: Apache-2.0
#include "core/loader/one_record.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/memory/host_memory.h"

namespace dataline {
namespace {

constexpr int64_t kHeapScratchBytes = int64_t{1} << 20;

// Zeroed, as sources require. Large ones are fresh pages, of which only written ones use memory.
Result<Block> zeroed_scratch(int64_t bytes) {
  const bool in_pages = bytes > kHeapScratchBytes;
  const std::shared_ptr<HostMemory> memory = HostMemory::create({});
  DL_ASSIGN_OR_RETURN(
      Block block,
      memory->allocate(bytes, 64, in_pages ? MemoryKind::kData : MemoryKind::kTable, "reading one record"));
  if (!in_pages) std::fill_n(block.data(), bytes, std::byte{0});
  return block;
}

}  // namespace

Result<ImageFacts> image_facts_of(const Source& source, size_t field, int64_t index, int64_t room_bytes) {
  if (index < 0 || index >= source.count())
    return error(Code::kOutOfRange, "sample ", index, ": expected 0 to ", source.count(), " exclusive");
  DL_ASSIGN_OR_RETURN(const Block scratch, zeroed_scratch(source.scratch_bytes(room_bytes)));
  const size_t column_count = source.schema().columns.size();
  std::vector<const std::byte*> data(column_count, nullptr);
  std::vector<int64_t> bytes(column_count, 0);
  std::vector<Run::ColumnRows> columns(column_count);
  for (size_t c = 0; c < column_count; ++c) columns[c] = {&data[c], &bytes[c], false};
  RowErrors errors;
  Run run;
  run.count = 1;
  run.indices = &index;
  run.contiguous = true;
  run.cold = true;  // makes a file truncated since it was mapped an error instead of a signal
  run.max_bytes_per_sample = room_bytes;
  run.scratch = scratch.data();
  run.columns = columns.data();
  run.errors = &errors;
  source.locate(run);
  if (!errors.empty()) shorten_places(source, run);

  const FieldPlace& place = source.schema().places[field];
  const auto column = static_cast<size_t>(place.column);
  Status failed = errors.empty() ? Status::ok() : std::move(errors.all().front().status);
  ImageFacts facts;
  if (failed.is_ok()) {
    facts.bytes = bytes[column];
    Result<ImageHeader> header =
        read_image_header(Bytes(data[column] + place.offset, static_cast<size_t>(facts.bytes)));
    if (header.is_ok()) {
      facts.header = header.value();
      return facts;
    }
    failed = header.take_status().in(place_text(source.place_of(index, column)));
  }
  return std::move(failed).in(concat("sample ", index)).with_sample(index);
}

}  // namespace dataline
