// .npy arrays in Fortran order: the elements of a sample are a whole axis apart and are gathered into scratch. Slower than
// C order: about one cache miss per element, or one pread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/flat_convert.h"
#include "core/source/source.h"

namespace dataline {

struct FortranLayout {
  int64_t data_offset = 0;
  std::vector<int64_t> shape;  // of the array: samples first
  int64_t element_bytes = 0;   // 1, 2, 4, 8 or 16
  FlatConversion conversion = FlatConversion::kNone;
};

// `schema`: one field of one column, the sample in C order. The caller has checked that the array fits the file; kInternal
// if it does not.
Result<SourceRef> open_fortran(MappedFile file, Schema schema, FortranLayout layout, SourceInfo info);

}  // namespace dataline
