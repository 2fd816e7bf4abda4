// Any bytes as an .npy file: refused by name, or every record is where NumPy's rules put it in the bytes.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/npy/npy_header.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

// The header as NumPy would write it: read again it means the same.
std::string header_text(const NpyHeader& header) {
  std::string shape;
  for (int64_t dim : header.shape) shape += concat(dim, ", ");
  std::string text =
      concat("{'descr': '", header.descr, "', 'fortran_order': ", header.fortran_order ? "True" : "False",
             ", 'shape': (", shape, "), }\n");
  std::string out("\x93NUMPY\x02\x00", 8);
  for (int i = 0; i < 4; ++i) out += static_cast<char>(text.size() >> (8 * i) & 255);
  return out + text;
}

Result<NpyHeader> read_header(std::string_view bytes, bool void2_as_bf16) {
  auto memory = HostMemory::create({}, kMostMemoryBytes);
  const auto size = static_cast<int64_t>(bytes.size());
  // Metadata: exactly as large as asked for, so that a sanitizer sees a read beyond.
  DL_ASSIGN_OR_RETURN(Block block, memory->allocate(size, 1, MemoryKind::kMetadata, "fuzzed bytes"));
  if (size > 0) std::memcpy(block.data(), bytes.data(), bytes.size());
  DL_ASSIGN_OR_RETURN(MappedFile file,
                      MappedFile::from_block({"fuzz.npy", {.bytes = size}}, std::move(block), size));
  return read_npy_header(file, void2_as_bf16);
}

void check_header_again(const NpyHeader& header, bool void2_as_bf16) {
  const std::string printed = header_text(header);
  Result<NpyHeader> again = read_header(printed, void2_as_bf16);
  check(again.is_ok(), "a header printed from a header is read",
        again.is_ok() ? "" : again.status().message());
  check(again.value().dtype == header.dtype && again.value().swapped == header.swapped &&
            again.value().fortran_order == header.fortran_order && again.value().shape == header.shape &&
            again.value().data_offset == static_cast<int64_t>(printed.size()),
        "a header printed from a header means the same", printed);
}

// Record `index` by definition: element by element out of the stored array.
std::string record(std::string_view data, const NpyHeader& header, int64_t index, size_t width) {
  const int64_t count = header.shape[0];
  int64_t items = 1;
  for (size_t d = 1; d < header.shape.size(); ++d) items *= header.shape[d];
  std::string out;
  for (int64_t item = 0; item < items; ++item) {
    int64_t place = index * items + item;
    if (header.fortran_order) {
      place = index;
      int64_t left = item, stride = count * items;
      for (size_t d = header.shape.size();
           d-- > 1;) {  // the last dim of an item counts fastest, and lies farthest apart
        stride /= header.shape[d];
        place += left % header.shape[d] * stride;
        left /= header.shape[d];
      }
    }
    out += data.substr(static_cast<size_t>(place) * width, width);
  }
  if (!header.swapped) return out;
  const bool complex = header.dtype == DType::kC64 || header.dtype == DType::kC128;
  return turned(out, complex ? width / 2 : width);
}

void check_records(const std::string& path, std::string_view bytes, const NpyHeader& header, bool bf16,
                   bool trailing, IoMode io) {
  Result<SourceRef> opened = open_source(
      concat("npy:", path, "?trailing=", trailing ? "ignore" : "error", bf16 ? "&dtype=bf16" : ""),
      context(io));
  const int64_t left = static_cast<int64_t>(bytes.size()) - header.data_offset;
  check(left >= 0, "the data begins within the file");
  if (!opened.is_ok()) return check_names(opened.status(), path);
  const Source& source = *opened.value();
  const auto width = static_cast<size_t>(dtype_bytes(header.dtype));
  const int64_t row_bytes = source.schema().columns[0].row_bytes;
  check(source.count() == header.shape[0], "as many records as the first dim says");
  check(row_bytes > 0 && source.count() <= left / row_bytes, "the records are within the file");
  check(trailing || source.count() * row_bytes == left, "nothing is left over");
  if (row_bytes > 1 << 16) return;
  Rows rows(source);
  const std::string_view data = bytes.substr(static_cast<size_t>(header.data_offset));
  for (int64_t index : some_of(source.count())) {
    const auto got = rows.read(index);
    check(got.size() == 1 && got[0] == record(data, header, index, width), "a record is the stored one");
  }
}

void run(std::string_view bytes) {
  static const Folder folder;
  std::string path;
  for (bool bf16 : {false, true}) {
    Result<NpyHeader> header = read_header(bytes, bf16);
    if (!header.is_ok()) {
      check_names(header.status(), "fuzz.npy");
      continue;
    }
    check_header_again(header.value(), bf16);
    if (path.empty()) path = folder.write("fuzz.npy", bytes);
    for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      if (header.value().shape.empty()) continue;
      check_records(path, bytes, header.value(), bf16, io == IoMode::kPread, io);
    }
  }
}

const Target kTarget("npy", run);

}  // namespace
}  // namespace dataline::fuzz
