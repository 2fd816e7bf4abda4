// What npy files consist of, for the formats that read them.
//
// The header: a magic, a length, and a Python dict of exactly three keys, parsed by a small fixed grammar.
// Nothing is ever evaluated.
//
//   0  "\x93NUMPY"
//   6  major and minor version
//   8  length, little-endian: u16 in version 1, u32 in 2 and 3; then the text of that length:
//      {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  spaces, newline
//
// Keys occur once each, in any order; strings are quoted with ' or "; blanks are ignored; a trailing comma is allowed, as is
// the L that Python 2 wrote after integers.
// Limits: 64 KiB of text (NumPy refuses more than 10,000 characters unless told to trust the file; only structured types
// need that much), 32 dims.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/watched_file.h"

namespace dataline {

constexpr int64_t kMaxNpyHeaderBytes = 64 << 10;

struct NpyHeader {
  DType dtype = DType::kU8;
  std::string descr;     // as written, for messages
  bool swapped = false;  // not stored in this machine's byte order
  bool fortran_order = false;
  std::vector<int64_t> shape;
  int64_t data_offset = 0;
};

// Where an array lies: bytes [begin, end) of a file that may hold others.
struct NpyExtent {
  const MappedFile& file;
  int64_t begin = 0, end = 0;
  std::string name;                     // what messages call it; they go on with the offset in `file`
  std::string_view container = "file";  // what has too few bytes
};

struct NpyRules {
  enum class Void2 { kRefuse, kBf16, kOnlyBf16 };
  // `V2` is how NumPy stores ml_dtypes' bfloat16. kOnlyBf16: any other type is refused.
  Void2 void2 = Void2::kRefuse;
  bool zero_dims = false;  // accepts 0-d arrays
};

// kTruncated, kCorrupt (a syntax error, with its offset in the file), kUnsupported (a known version, type or rank that is
// not read), kUnsafeType (objects, at any depth), kTooLarge (text above the limit).
Result<NpyHeader> read_npy_header(const NpyExtent& extent, const NpyRules& rules);
// Of a file that is one array; `void2_as_bf16`: kOnlyBf16.
Result<NpyHeader> read_npy_header(const MappedFile& file, bool void2_as_bf16);

// The text of a header: sets descr, fortran_order and shape. `path` and `offset` (of the text in the file) are for
// messages. kCorrupt for a syntax error; kUnsupported for a structured type (a list or tuple), or kUnsafeType if it
// contains an object type.
Result<NpyHeader> parse_npy_text(const std::string& path, int64_t offset, std::string_view text);

// Whether Fortran and C order are the same bytes: at most one dim is longer than 1.
inline bool orders_agree(const NpyHeader& header) {
  return !header.fortran_order ||
         std::count_if(header.shape.begin(), header.shape.end(), [](int64_t dim) { return dim != 1; }) <= 1;
}

// An array in Fortran order: the elements of a sample are a whole axis apart and are gathered into scratch. Slower than C
// order: about one cache miss per element, or one pread. `schema`: one field of one column, the sample in C order. The
// caller has checked that the array fits the file. kTooLarge: samples above kMaxRecordBytes.
Result<SourceRef> open_fortran(MappedFile file, Schema schema, SourceInfo info, const NpyHeader& header);
Result<SourceRef> open_fortran(WatchedFileRef file, Schema schema, SourceInfo info, const NpyHeader& header);

}  // namespace dataline
