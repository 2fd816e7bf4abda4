// Fields whose values are in the names of directories, as Hive, Spark, pandas and pyarrow lay out sets:
// year=2024/month=01/part-0.parquet. Types are those of pyarrow's hive partitioning: i32 where all values are such integers,
// text otherwise; names and values are URL-decoded; __HIVE_DEFAULT_PARTITION__, or no such directory, is a null. Where the
// files have a column of that name too, the directory's value is delivered.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "library.h"
#include "parquet_file.h"
#include "paths.h"

namespace dataline_parquet {

class Partitions {
 public:
  // A value of a file, which all its rows have.
  struct Value {
    bool is_null = false;  // and refused
    std::vector<uint8_t> bytes;
  };
  // One field of the dataset: a column of the files, or a key.
  struct Place {
    std::optional<size_t> column;
    size_t key = 0;
    bool is_mask = false;
  };

  // `options` is what the URI's keys state. DL_ERR_BAD_URI: a null cannot be the number of nulls=fill(V).
  static Failure make(const std::vector<FoundFile>& files, const FileOptions& options, Partitions* out);

  // The options for opening the files: without the keys.
  FileOptions for_files(FileOptions options) const;
  // Forgets the values of a file that adds no samples; those behind it move up.
  void drop(size_t file);
  // Places the files' columns and the keys. Called once, after the first file was opened.
  void place(const std::vector<PqField>& columns, const FileOptions& options);

  const std::vector<PqField>& fields() const { return fields_; }
  const std::vector<Place>& places() const { return places_; }
  const Value& value(size_t file, const Place& place) const {
    const Key& key = keys_[place.key];
    return (place.is_mask ? key.masks : key.values)[file];
  }

 private:
  struct Key {
    PqField field;
    std::vector<Value> values, masks;  // by file
  };
  const Key* find(const std::string& name) const;
  void add(const PqField& field, Place place) {
    fields_.push_back(field);
    places_.push_back(place);
  }

  std::vector<Key> keys_;
  std::vector<PqField> fields_;
  std::vector<Place> places_;
};

}  // namespace dataline_parquet
