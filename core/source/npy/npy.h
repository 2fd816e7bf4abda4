// .npy arrays as datasets: sample i is the array at index i of the first axis, in the only field `data`.
//
// Read: versions 1.0, 2.0, 3.0; bool, u1..u8, i1..i8, f2 f4 f8, c8 c16, in either byte order (delivered native); C order
// straight from the file, Fortran order by gathering each sample into scratch. Bool bytes other than 0 and 1 are delivered
// unchanged, as in NumPy.
// Refused by name: 0-d arrays, text, dates, void (but see NpyOptions::bf16), structured types, longdouble, samples of 0
// bytes; objects and pickles of any kind (kUnsafeType).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct Format;
extern const Format kNpyFormat;

struct NpyOptions {
  bool trailing_ignore = false;  // accepts bytes after the array
  bool bf16 = false;             // reads `V2`, which is how NumPy stores bfloat16
};

Result<SourceRef> open_npy(const std::string& path, const NpyOptions& options, const OpenContext& context);

}  // namespace dataline
