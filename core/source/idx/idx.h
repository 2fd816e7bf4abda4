// IDX files, the format of MNIST: sample i is the array at index i of the first axis, in the field `data`.
//
//   0  00 00
//   2  type: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64
//   3  number of dims, then a u32 per dim, then the data; all big-endian (the data is delivered native)
//
// A .gz (by content, not by name) is inflated into memory. Plain or inflated, the file must have exactly the size that its
// header gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

// `cut`: the key `end` (flat_file.h).
Result<SourceRef> open_idx(const std::string& path, const OpenContext& context, bool cut = false);

struct IdxHeader {
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;  // at least one dim; those after the first are > 0
  int64_t record_bytes = 0;    // of one sample, > 0
  int64_t data_offset = 0;
  int64_t total_bytes = 0;  // of header and data
};

// An opened file that is not a source yet, for formats built on IDX.
struct IdxFile {
  MappedFile file;
  IdxHeader header;
  bool inflated;
  std::vector<std::string> notes = {};  // on what `cut` left out
};

// kCorrupt, kTruncated, kUnsupported (0 dims, more than 32, samples of 0 bytes).
Result<IdxFile> read_idx(const std::string& path, const OpenContext& context, bool cut = false);

}  // namespace dataline
