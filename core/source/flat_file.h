// Fixed-stride records in one file: record i begins at data_offset + i * record_stride. npy, idx, raw, cifar and tokens
// are such files and differ only in how they find the layout.
//
// Threads: immutable after create; every function may be called from several workers at once.
// Lifetime: pointers into mapped files and files in memory are valid as long as the source, pointers into scratch as long
// as the scratch.
// Cost: locate() is a multiplication and an addition per record and column, without allocating or branching per record,
// unless the run is cold, the file is read by pread, or a column is converted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"
#include "core/source/file_source.h"
#include "core/source/source.h"
#include "core/source/uri.h"

namespace dataline {

// The key of formats whose header says how many records follow; whole_records() is what `cut` does.
inline constexpr KeySpec kArrayEndKey{"end", "required|cut", "required",
                                      "whether a file must end where its header states; cut: complete "
                                      "samples are read, and bytes after the array are left out"};

constexpr int64_t kScratchAlignment = 64;  // of what a run's scratch holds of a record

// How a column is converted from how it is stored to how it is delivered. Anything but kNone needs scratch.
enum class FlatConversion : int32_t {
  kNone = 0,
  // Labels stored as bytes and delivered as i64: eight times as long.
  kU8ToI64 = 1,
  // Elements of 2, 4 or 8 bytes (the value) in the other byte order.
  kSwap2 = 2,
  kSwap4 = 4,
  kSwap8 = 8,
};

// The conversion to native byte order for a file in the other order.
FlatConversion swap_conversion(DType dtype);

// Bytes of a stored element; 1 where any number of bytes is fine.
int64_t conversion_element_bytes(FlatConversion conversion);
int64_t converted_bytes(FlatConversion conversion, int64_t stored_bytes);

// `stored_bytes` is a multiple of the element size. Swaps may work in place (`to` == `from`).
void convert_bytes(FlatConversion conversion, const std::byte* from, int64_t stored_bytes, std::byte* to);

// How the schema's column of the same index is stored.
struct FlatColumn {
  int64_t offset = 0;        // within the record
  int64_t stored_bytes = 0;  // in the file; the schema's row_bytes are as delivered
  FlatConversion conversion = FlatConversion::kNone;
};

// Below the address space of any machine, and far from where sums of a few sizes would overflow.
constexpr int64_t kMaxRecordBytes = int64_t{1} << 46;

struct FlatLayout {
  int64_t data_offset = 0;    // of record 0
  int64_t record_stride = 0;  // from one record to the next, > 0
  int64_t record_bytes = 0;   // larger than the stride: records overlap; smaller: there are gaps
  int64_t record_count = 0;
  std::vector<FlatColumn> columns;

  // Packed records of one column.
  static FlatLayout packed(int64_t data_offset, int64_t record_bytes, int64_t record_count,
                           FlatConversion conversion) {
    return {data_offset, record_bytes, record_bytes, record_count, {{0, record_bytes, conversion}}};
  }
};

// The size of an array in a file, whose samples are the items of its first dim.
struct ArraySize {
  int64_t record_bytes = 0;
  int64_t total_bytes = 0;  // of the header and the data
};
// kUnsupported: samples of 0 bytes; kCorrupt: more than 2^63 bytes. Messages begin with `array`, which names it.
Result<ArraySize> size_of_array(std::string_view array, DType dtype, std::span<const int64_t> shape,
                                int64_t header_bytes);

// Whether the data from `offset` on are exactly the array's: kTruncated says what is missing, kCorrupt what follows it and
// then `advice`.
Status check_data_bytes(const MappedFile& file, int64_t offset, int64_t bytes, std::string_view array,
                        std::string_view advice = "");
// How many of `count` records of an array of that size (without a header) the file holds from `offset` on; notes what is missing, or
// follows the array. kTruncated: none.
Result<int64_t> whole_records(const MappedFile& file, int64_t offset, const ArraySize& size, int64_t count,
                              std::string_view array, std::vector<std::string>& notes);

class FlatFile final : public FileSource {
 public:
  // Checks that all records lie inside the file (kTruncated names file, offset, expected and got) and that schema and
  // layout match (kInternal).
  static Result<SourceRef> create(MappedFile file, Schema schema, FlatLayout layout, SourceInfo info);
  // Over a file that other sources read too.
  static Result<SourceRef> create(WatchedFileRef file, Schema schema, FlatLayout layout, SourceInfo info);

  int64_t count() const override { return layout_.record_count; }
  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  int64_t stored_bytes() const override { return layout_.record_stride; }
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  template <typename File>  // MappedFile, WatchedFileRef
  FlatFile(File file, Schema schema, FlatLayout layout, SourceInfo info);

  FileExtent extent_of(int64_t index) const override { return {record_offset(index), layout_.record_bytes}; }
  int64_t record_offset(int64_t index) const { return layout_.data_offset + index * layout_.record_stride; }
  // Bytes from the start of the first to the end of the last of `count` consecutive records.
  int64_t span_bytes(int64_t count) const {
    return (count - 1) * layout_.record_stride + layout_.record_bytes;
  }
  void populate_rows(Run& run) const;
  void point_into(Run& run, const std::byte* base) const;
  void read_rows(Run& run) const;
  bool read_together(Run& run) const;
  void convert_columns(Run& run) const;

  FlatLayout layout_;
  // A run's scratch is divided into one part for records read by pread and one per converted column. A part has `count`
  // times these bytes, which are multiples of 64, so that every part is aligned.
  int64_t read_scratch_bytes_ = 0;
  std::vector<int64_t> converted_scratch_bytes_;  // [columns], 0 where nothing is converted
};

}  // namespace dataline
