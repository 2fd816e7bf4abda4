// Files of the formats, written by hand, and the bytes of one field over an epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/memory/temp_files.h"
#include "tests/support/job.h"

namespace dataline::tests {

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Version 1.0, C order. `shape` as NumPy writes it: "(3, 4)" or "(3,)".
inline std::string npy_file(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header += std::string(64 - (10 + header.size() + 1) % 64, ' ') + '\n';
  const char length[] = {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + header + data;
}

// u8 items.
inline std::string idx_file(const std::vector<uint8_t>& dims, const std::string& data) {
  std::string out = {0, 0, 8, static_cast<char>(dims.size())};
  for (uint8_t dim : dims) out += std::string(3, '\0') + static_cast<char>(dim);
  return out + data;
}

// One tensor `x`, after an odd number of bytes.
inline std::string safetensors_file(const std::string& dtype, const std::string& shape,
                                    const std::string& data) {
  std::string header = R"({"x":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[0,)" +
                       std::to_string(data.size()) + "]}}";
  if (header.size() % 2 == 0) header += ' ';
  return bytes_of(std::vector<uint64_t>{header.size()}) + header + data;
}

// What an open that may fail says.
struct Opened {
  dl_status status = DL_OK;
  Dataset dataset;
  Error error;
};

inline Opened open_dataset(const std::string& uri, const Settings& settings = {}) {
  Opened out;
  dl_dataset* dataset = nullptr;
  out.status = dl_dataset_open(uri.c_str(), make_options(settings).get(), &dataset, &out.error);
  out.dataset.reset(dataset);
  return out;
}

inline std::string row_bytes(const dl_batch* batch, int32_t field) {
  int32_t count = 0;
  const dl_view& view = *dl_view_at(dl_batch_views(batch, &count), field);
  EXPECT_LT(field, count);
  return std::string(static_cast<const char*>(view.data) + view.byte_offset, static_cast<size_t>(view.bytes));
}

// All bytes of a dense or ragged field up to the end of the epoch.
inline std::string epoch_bytes(const Loader& loader, int32_t field = 0) {
  std::string all;
  for (;;) {
    Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return all;
    }
    all += row_bytes(got.batch.get(), field);
  }
}

// Lets reader callbacks stop until they are told to go on.
class Latch {
 public:
  void wait() const { open_.wait(false); }
  void open() {
    open_.store(true);
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_{false};
};

}  // namespace dataline::tests
