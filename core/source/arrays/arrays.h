// Several named arrays in one file as one dataset: what safetensors: and npz: share. How a file describes its arrays is each
// format's own.
//
// rows=true: sample i is index i of the first axis of every array, as in npy. rows=false: the file is one sample, and each
// array is delivered whole; a directory of files is then a dataset of as many samples.
// Each array is a field, in the order of the file or of the key `fields`. What cannot be delivered is refused by name, unless
// `fields` leaves it out.
// Cost: stored arrays are mapped in place, however they are aligned, and a batch costs one look at their file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/uri.h"
#include "core/source/watched_file.h"

namespace dataline {

struct ArrayOptions {
  bool rows = true;
  std::vector<std::string> fields;  // empty: all
};

inline constexpr KeySpec kRowsKey{
    "rows", "true|false", "true",
    "whether each index of the arrays' first axes is a sample; false: each file is one sample"};
inline constexpr KeySpec kArrayFieldsKey{"fields", "NAMES", "",
                                         "the arrays to read, in this order; default: all, in file order"};

// Reads the keys above.
Result<ArrayOptions> array_options(const Uri& uri);

constexpr size_t kMaxArrays = 32768;      // in a file
constexpr size_t kMaxArrayFields = 1024;  // that are delivered

// The arrays to deliver, as indices of `names`, which are those of a file in its order. kNoSuchField: `fields` names one that is
// not there; kEmpty: there are none; kTooLarge.
Result<std::vector<size_t>> choose_arrays(const std::string& path, std::span<const std::string_view> names,
                                          const ArrayOptions& options);

// Whether a name can be a field's: not empty, and is_name_text().
bool is_array_name(std::string_view name);

struct NamedArray {
  std::string name;
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;    // all dims. The caller has checked that the array lies in its file.
  int64_t offset = 0;            // of its first element
  bool swapped = false;          // stored in the other byte order
  bool fortran = false;          // in Fortran order, and that differs from C order
  WatchedFileRef own_file = {};  // where it lies; null: in the file of all
};

// That an array can be a field: kUnsupported, kTooLarge.
Status check_array(const std::string& path, const NamedArray& array, const ArrayOptions& options);

// Adds to the error of an array of a kind that is not read how to leave it out. `names`: all that would be delivered.
Status with_cure(Status refused, std::string_view name, std::span<const std::string_view> names,
                 const ArrayOptions& options);

struct ArrayFile {
  std::string_view format;  // of SourceInfo
  MappedFile file;          // not loaded yet
  std::vector<NamedArray> arrays;
  std::vector<std::string> notes;
};

// Each array has passed check_array(). kMismatch: with rows=true, arrays of different lengths; file errors.
Result<SourceRef> open_arrays(ArrayFile opened, const ArrayOptions& options, const OpenContext& context);

}  // namespace dataline
