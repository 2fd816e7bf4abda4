// One Parquet file: which of its columns become fields, and row groups decoded by Apache Arrow.
//
// Types, names and refusals are those of the library's format `arrow` (core/source/arrow/columns.h): integers, floats, bool;
// dates, times, timestamps and durations as their integers; fixed_size_binary as u8[n]; fixed_size_list of these as further
// dims; list and large_list of these as ragged fields; string and binary as ragged u8; leaves of structs as `struct/leaf`;
// dictionaries as their values.
// Threads: a ParquetFile is immutable once open; decode() may be called from several threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library.h"

namespace dataline_parquet {

struct Fill {
  double number = 0;
  std::optional<int64_t> whole;
  bool mask = false;  // nulls=mask: 0, and fields say where; nulls inside a value are errors
};

struct FileOptions {
  std::vector<std::string> fields;    // empty: all
  std::vector<std::string> left_out;  // columns whose values the directories state (partitions.h)
  bool no_columns = false;            // none is wanted
  std::optional<Fill> fill;           // nulls=fill(V), nulls=mask
  int64_t cache_bytes = 0;            // no decoding takes more
  // Else the file and its footer are let go when it has been looked at, and opened again to decode: for sets of more files
  // than a process may have open.
  bool kept_open = true;
  std::shared_ptr<dl_options> library_options = nullptr;  // to open it again
};

struct PqField {
  std::string name;
  bool ragged = false;
  int32_t dtype = DL_DTYPE_U8;
  int64_t element_bytes = 1;
  int64_t unit_bytes = 1;      // of a row of a dense field, of an item of a ragged one
  std::vector<int64_t> shape;  // ragged: -1 first
  std::string axes;

  bool operator==(const PqField& other) const {
    return name == other.name && ragged == other.ragged && dtype == other.dtype && shape == other.shape;
  }
  std::string type_text() const;
};

// What is wrong with a row that is null, where nulls are errors.
inline constexpr char kNullRow[] =
    "a null (nulls=fill(0) delivers 0, or an empty row of a ragged field, instead)";

// Where a value lies, in memory of its group.
struct Found {
  const uint8_t* data = nullptr;
  int64_t bytes = 0;
};

// The rows of one row group, all fields. Immutable.
class Group {
 public:
  virtual ~Group() = default;
  virtual int64_t bytes() const = 0;
  // Of a field whose rows are of one size and side by side, where the first lies; null for others, and where one is null.
  virtual const uint8_t* plain(size_t field) const = 0;
  // Where rows of a field lie, up to the first that is bad; returns how many are good. The failure says what is wrong with
  // that one.
  virtual size_t find(size_t field, std::span<const int64_t> rows, Found* out, Failure* failed) const = 0;
};

class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  static Failure open(const std::string& path, const FileOptions& options, const dl_options* library_options,
                      std::shared_ptr<const ParquetFile>* out);

  virtual const std::string& path() const = 0;
  virtual const std::vector<PqField>& fields() const = 0;
  virtual const std::vector<int64_t>& group_rows() const = 0;
  // What each takes when it is decoded, about: texts with a dictionary may be longer than its guess.
  virtual const std::vector<int64_t>& group_bytes() const = 0;
  virtual int64_t file_bytes() const = 0;
  // DL_CANCELLED once *cancelled is set.
  virtual Failure decode(int32_t group, const int32_t* cancelled,
                         std::shared_ptr<const Group>* out) const = 0;
};

}  // namespace dataline_parquet
