// SPDX-License-Identifier: Apache-2.0
#include "core/source/mds/mds_shard.h"

#include <array>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/documents/number_reader.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr int64_t kWord = 4;
constexpr std::byte kEmptyValue{};  // null means that the row failed
// A sample holds more than the value that is wanted of it.
constexpr int64_t kSampleToValue = 8;

Schema mds_schema(const MdsPlan& plan, int64_t longest) {
  std::vector<Field> fields;
  for (const size_t c : plan.delivered) {
    fields.push_back(*plan.columns[c].field);
    if (fields.back().kind == FieldKind::kRagged) fields.back().max_bytes = longest;
  }
  return column_per_field(std::move(fields));
}

struct MdsTable {
  int64_t first = 0;
  SortedTable ends;
  int64_t longest = 0;
};

Result<MdsTable> read_table(const MappedFile& file, int64_t samples, const OpenContext& context) {
  const std::string& path = file.path();
  if (samples > UINT32_MAX || kWord * (samples + 2) > file.bytes()) {
    return error(Code::kTruncated, path, ": offset 0: ", samples, " samples need a table of ", samples + 2,
                 " times 4 bytes, file has ", file.bytes());
  }
  const int64_t head = kWord * (samples + 2);
  NumberReader<uint32_t> words(file, 0, samples + 2);
  DL_ASSIGN_OR_RETURN(const uint32_t count, words.next());
  if (int64_t{count} != samples)
    return error(Code::kCorrupt, path, ": offset 0: ", count, " samples, the index says ", samples);
  MdsTable table{0, SortedTable(context.memory), 0};
  table.ends.reserve(samples);
  int64_t before = head;
  for (int64_t i = 0; i <= samples; ++i) {
    DL_ASSIGN_OR_RETURN(const uint32_t word, words.next());
    const int64_t offset = word;
    if (offset < before || offset > file.bytes()) {
      return error(offset < before ? Code::kCorrupt : Code::kTruncated, path, ": offset ", kWord * (i + 1),
                   ": offsets[", i, "] is ", offset, ", expected ", before, " to ", file.bytes());
    }
    if (i == 0) table.first = offset;
    if (i > 0) table.ends.add(offset), table.longest = std::max(table.longest, offset - before);
    before = offset;
  }
  if (before == file.bytes()) return table;
  return error(Code::kCorrupt, path, ": offset ", before, ": ", file.bytes() - before,
               " bytes after the last sample");
}

}  // namespace

MdsShard::MdsShard(MappedFile file, Schema schema, SourceInfo info, std::shared_ptr<const MdsPlan> plan,
                   int64_t first, SortedTable ends, int64_t longest)
    : FileSource(std::move(file), std::move(schema), std::move(info)),
      plan_(std::move(plan)),
      first_(first),
      ends_(std::move(ends)),
      longest_(longest) {}

Result<SourceRef> MdsShard::open(const std::string& directory, const MdsShardEntry& entry,
                                 std::shared_ptr<const MdsPlan> plan, const OpenContext& context) {
  const std::string path = join_path(directory, entry.name);
  Result<MappedFile> opened = MappedFile::open_unloaded(path, context);
  if (!opened.is_ok()) {
    if (opened.status().code() != Code::kNotFound || entry.compressed.empty()) return opened.take_status();
    return error(
        Code::kUnsupported, path, ": not there, and its compressed file ", printable(entry.compressed),
        " is not read: decompress it (zstd -d, gunzip, brotli -d), or write the set without compression");
  }
  DL_ASSIGN_OR_RETURN(MappedFile file, std::move(opened));
  if (file.bytes() != entry.bytes) {
    return error(file.bytes() < entry.bytes ? Code::kTruncated : Code::kCorrupt, path, ": the index says ",
                 entry.bytes, " bytes, file has ", file.bytes());
  }
  DL_ASSIGN_OR_RETURN(MdsTable table, read_table(file, entry.samples, context));
  DL_RETURN_IF_ERROR(file.load(context));
  Schema schema = mds_schema(*plan, table.longest);
  return SourceRef(new MdsShard(std::move(file), std::move(schema), SourceInfo{"mds", path, {}},
                                std::move(plan), table.first, std::move(table.ends), table.longest));
}

int64_t MdsShard::stored_bytes() const {
  return count() == 0 ? 1 : std::max<int64_t>((ends_.back() - first_) / count(), 1);
}

void MdsShard::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  BlockCutter cutter(block_bytes, ends);
  for (int64_t i = 0; i < count(); ++i) cutter.add(extent_of(i).bytes);
  cutter.finish();
}

int64_t MdsShard::sample_room(int64_t max_bytes_per_sample) const {
  int64_t fixed = 0;  // no overflow: the index was checked, and all of it lies in the longest sample
  for (const MdsColumn& column : plan_->columns)
    fixed += std::min(std::max<int64_t>(column.spec.size, 0), longest_);
  const bool bounded = max_bytes_per_sample < longest_ / kSampleToValue;
  return std::min(longest_, bounded ? fixed + max_bytes_per_sample * kSampleToValue : longest_);
}

int64_t MdsShard::scratch_bytes(int64_t max_bytes_per_sample) const {
  return file_.addressable() ? 0 : round_up(sample_room(max_bytes_per_sample), kScratchAlignment);
}

void MdsShard::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (size_t c = 0; c < plan_->delivered.size(); ++c) run.columns[c].contiguous = false;
  for (int64_t i = 0; i < run.count; ++i) {
    Result<const std::byte*> sample = sample_bytes(run, i, populate, run.scratch + i * stride);
    Status status = sample.is_ok() ? locate_row(run, i, sample.value()) : sample.take_status();
    if (status.code() == Code::kCorrupt) {
      Status changed = check_unchanged(run.indices[i]);
      if (!changed.is_ok()) status = std::move(changed);
    }
    if (!status.is_ok()) run.fail(i, plan_->delivered.size(), std::move(status));
  }
}

Result<const std::byte*> MdsShard::sample_bytes(Run& run, int64_t row, bool populate,
                                                std::byte* scratch) const {
  const FileExtent extent = extent_of(run.indices[row]);
  if (file_.addressable()) {
    if (populate) DL_RETURN_IF_ERROR(file_.populate(extent.offset, extent.bytes));
    return file_.at(extent.offset);
  }
  const int64_t room = sample_room(run.max_bytes_per_sample);
  if (extent.bytes > room) {
    return error(Code::kTooLarge, file_.path(), ": sample ", run.indices[row], ", offset ", extent.offset,
                 ": ", extent.bytes, " bytes, at most ", room, " by max_bytes_per_sample, which is ",
                 run.max_bytes_per_sample);
  }
  DL_RETURN_IF_ERROR(file_.read(extent.offset, extent.bytes, scratch, run.cancelled));
  return static_cast<const std::byte*>(scratch);
}

Status MdsShard::wrong(int64_t index, std::string_view what, int64_t expected, int64_t got) const {
  return error(Code::kCorrupt, file_.path(), ": sample ", index, ", offset ", extent_of(index).offset, ": ",
               what, expected, " bytes, the sample has ", got);
}

// The sizes come first, so that the value of each column is known to lie in the sample before it is handed out.
Status MdsShard::locate_row(Run& run, int64_t row, const std::byte* sample) const {
  const int64_t index = run.indices[row], bytes = extent_of(index).bytes;
  std::array<int64_t, kMaxMdsColumns> sizes{};
  int64_t head = 0;
  for (size_t c = 0; c < plan_->columns.size(); ++c) {
    sizes[c] = plan_->columns[c].spec.size;
    if (sizes[c] >= 0) continue;
    if (bytes - head < kWord) return wrong(index, "its sizes need more than ", head, bytes);
    sizes[c] = load_little<uint32_t>(sample + head);
    head += kWord;
  }
  std::array<int64_t, kMaxMdsColumns> begins{};
  int64_t end = head;
  for (size_t c = 0; c < plan_->columns.size(); ++c) {
    begins[c] = end;
    if (sizes[c] > bytes - end) return wrong(index, "its columns need more than ", end, bytes);
    end += sizes[c];
  }
  if (end != bytes) return wrong(index, "its columns have ", end, bytes);
  for (size_t f = 0; f < plan_->delivered.size(); ++f) {
    const MdsColumn& column = plan_->columns[plan_->delivered[f]];
    int64_t begin = begins[plan_->delivered[f]], size = sizes[plan_->delivered[f]];
    if (column.has_shape) {
      // One dim; its bytes are what the values have.
      const int64_t item = dtype_bytes(column.field->dtype);
      const auto form = size > 0 ? std::to_integer<int64_t>(sample[begin]) : 0;
      const int64_t shape = 1 + (int64_t{1} << (form & 3));
      int64_t items = -1;
      if ((form >> 2) == 1 && size >= shape) {
        uint64_t dim = 0;
        for (int64_t i = shape - 1; i > 0; --i) dim = dim << 8 | std::to_integer<uint64_t>(sample[begin + i]);
        if (dim <= static_cast<uint64_t>(size)) items = static_cast<int64_t>(dim);
      }
      if (items < 0 || size - shape != items * item) {
        return error(Code::kCorrupt, file_.path(), ": sample ", index, ", offset ",
                     extent_of(index).offset + begin, ": column ", printable(column.spec.name), ": ",
                     (form >> 2) == 1 ? concat("its length and its ", size, " bytes disagree")
                                      : concat("an array of ", form >> 2, " dims, expected 1"));
      }
      begin += shape, size -= shape;
    }
    run.columns[f].data[row] = size == 0 ? &kEmptyValue : sample + begin;
    run.columns[f].bytes[row] = size;
  }
  return Status::ok();
}

Place MdsShard::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("sample ", index, ", offset ", extent_of(index).offset)};
}

void MdsShard::fingerprint(Digest& digest) const {
  fingerprint_schema(*this, digest);
  digest.add("mds");
  digest.add(static_cast<uint64_t>(file_.file_bytes()));
}

}  // namespace dataline
