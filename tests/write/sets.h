// What the tests of writers share: fields and rows in the test's own memory, and what a set delivers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/capi/host_data.h"
#include "tests/support/read_whole.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests {

using Writer = std::unique_ptr<dl_writer, Destroy<dl_writer, dl_writer_destroy>>;

// One field, and its values for any number of rows.
struct Column {
  std::string name;
  int32_t kind = DL_KIND_DENSE;
  int32_t dtype = DL_DTYPE_U8;
  std::vector<int64_t> shape = {};  // of a sample; ragged: -1 first
  std::string axes = {};
  std::string bytes = {};
  std::vector<int64_t> offsets = {};  // ragged

  dl_view view() const {
    dl_view out = {};
    out.struct_size = sizeof out;
    out.kind = kind;
    out.name = name.c_str();
    out.dtype = dtype;
    out.rank = static_cast<int32_t>(shape.size());
    out.shape = shape.data();
    out.axes = axes.c_str();
    return out;
  }
};

template <typename T>
Column dense(const std::string& name, int32_t dtype, const std::vector<int64_t>& shape,
             const std::vector<T>& values, const std::string& axes = "") {
  return {name,  DL_KIND_DENSE,
          dtype, shape,
          axes,  std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)),
          {}};
}

inline Column texts(const std::string& name, const std::vector<std::string>& values) {
  Column out{name, DL_KIND_RAGGED, DL_DTYPE_U8, {-1}, "", "", {0}};
  for (const std::string& value : values) {
    out.bytes += value;
    out.offsets.push_back(static_cast<int64_t>(out.bytes.size()));
  }
  return out;
}

template <typename T>
Column ragged(const std::string& name, int32_t dtype, const std::vector<int64_t>& lengths,
              const std::vector<T>& values, const std::vector<int64_t>& dims = {}) {
  Column out{name,  DL_KIND_RAGGED,
             dtype, {-1},
             "",    std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)),
             {0}};
  out.shape.insert(out.shape.end(), dims.begin(), dims.end());
  for (const int64_t length : lengths) out.offsets.push_back(out.offsets.back() + length);
  return out;
}

using Columns = std::vector<Column>;

template <typename T>
std::vector<T> counting(size_t count) {
  std::vector<T> out(count);
  std::iota(out.begin(), out.end(), static_cast<T>(1));
  return out;
}

struct Written {
  dl_status status = DL_OK;
  Error error;
};

class TestWriter {
 public:
  TestWriter(const std::string& uri, const Columns& columns, const char* job = nullptr) {
    std::vector<dl_view> views;
    for (const Column& column : columns) views.push_back(column.view());
    dl_writer* raw = nullptr;
    made.status = dl_writer_create(uri.c_str(), views.data(), static_cast<int32_t>(views.size()), job, &raw,
                                   &made.error);
    EXPECT_EQ(raw != nullptr, made.status == DL_OK);
    writer.reset(raw);
  }

  // Rows [first, first + count).
  Written append(const Columns& columns, int64_t first, int64_t count, const char* position = nullptr) {
    Written out;
    std::vector<dl_array> arrays;
    std::vector<std::vector<int64_t>> shapes;
    for (const Column& column : columns) {
      shapes.push_back(column.shape);
      dl_array array = {};
      array.struct_size = sizeof array;
      array.kind = column.kind;
      array.name = column.name.c_str();
      array.dtype = column.dtype;
      if (column.kind == DL_KIND_RAGGED) {
        shapes.back()[0] = column.offsets.back();
        array.offsets = column.offsets.data() + first;
        array.sample_count = count;
        array.data = column.bytes.data();
      } else {
        int64_t row = dl_dtype_bytes(column.dtype);
        for (const int64_t dim : column.shape) row *= dim;
        shapes.back().insert(shapes.back().begin(), count);
        array.data = column.bytes.data() + first * row;
      }
      arrays.push_back(array);
    }
    for (size_t a = 0; a < arrays.size(); ++a) {
      arrays[a].shape = shapes[a].data();
      arrays[a].rank = static_cast<int32_t>(shapes[a].size());
    }
    out.status = dl_writer_append(writer.get(), arrays.data(), static_cast<int32_t>(arrays.size()), position,
                                  &out.error);
    return out;
  }

  Written finish() {
    Written out;
    out.status = dl_writer_finish(writer.get(), &out.error);
    return out;
  }

  dl_writer_info info() const {
    dl_writer_info out = {};
    out.struct_size = sizeof out;
    Error error;
    EXPECT_EQ(dl_writer_get_info(writer.get(), &out, &error), DL_OK) << error.message;
    return out;
  }

  Writer writer;
  Written made;
};

// What a set delivers, in order: of each field the type and the bytes of all rows, of ragged ones the lengths too.
struct Delivery {
  std::string name;
  int32_t dtype = 0;
  std::vector<int64_t> shape;  // of a sample
  std::string axes;
  std::string bytes;
  std::vector<int64_t> lengths;
};

inline std::vector<Delivery> deliver(const std::string& uri) {
  std::vector<Delivery> out;
  Error error;
  dl_dataset* raw = nullptr;
  EXPECT_EQ(dl_dataset_open(uri.c_str(), nullptr, &raw, &error), DL_OK) << error.message;
  const Dataset dataset(raw);
  if (dataset == nullptr) return out;
  const Loader loader = make_loader(
      dataset,
      {{"batch_size", "3"}, {"num_workers", "0"}, {"epochs", "1"}, {"max_bytes_per_sample", "1MiB"}});
  for (;;) {
    const Delivered got = next(loader);
    if (got.status == DL_END_OF_EPOCH) break;
    EXPECT_EQ(got.status, DL_OK) << got.message;
    if (got.status != DL_OK) break;
    int32_t count = 0;
    dl_batch_views(got.batch.get(), &count);
    out.resize(static_cast<size_t>(count));
    for (int32_t f = 0; f < count; ++f) {
      const dl_view& view = view_of(got.batch.get(), f);
      Delivery& field = out[static_cast<size_t>(f)];
      field.name = view.name;
      field.dtype = view.dtype;
      field.shape.assign(view.shape + 1, view.shape + view.rank);
      field.axes = view.axes;
      field.bytes.append(static_cast<const char*>(view.data) + view.byte_offset,
                         static_cast<size_t>(view.bytes));
      for (int64_t i = 0; view.offsets != nullptr && i < got.valid; ++i)
        field.lengths.push_back(view.offsets[i + 1] - view.offsets[i]);
    }
  }
  return out;
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class Sets : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool there(const std::string& name) const { return std::filesystem::exists(path(name)); }
  ~Sets() override { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_ = make_temp_folder("dataline-sets");
};

}  // namespace dataline::tests
