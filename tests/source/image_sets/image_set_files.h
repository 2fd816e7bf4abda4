// MNIST and CIFAR files of a few records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/source/idx/idx.h"
#include "tests/source/gzip_files.h"
#include "tests/source/source_support.h"

namespace dataline {

// Whether this build inflates at all.
inline bool gzip_is_read() {
  TempDir dir;
  std::string empty = big_u32(0x801) + big_u32(0);
  return open_idx(dir.write("a.gz", gzip_stored(empty)), test_context()).is_ok();
}

// `header_count` is what the header says, where it differs from `count`.
inline std::string mnist_images(int count, int64_t header_count = -1) {
  std::string out = big_u32(0x803) + big_u32(static_cast<uint32_t>(header_count < 0 ? count : header_count)) +
                    big_u32(28) + big_u32(28);
  for (int i = 0; i < count; ++i) out += std::string(28 * 28, static_cast<char>(i));
  return out;
}

inline std::string mnist_labels(const std::string& labels, int64_t header_count = -1) {
  auto count = header_count < 0 ? static_cast<int64_t>(labels.size()) : header_count;
  return big_u32(0x801) + big_u32(static_cast<uint32_t>(count)) + labels;
}

// Record i of a file: label (and coarse), then an image of bytes equal to `tag`.
inline std::string cifar10_record(int label, int tag) {
  return std::string(1, static_cast<char>(label)) + std::string(3072, static_cast<char>(tag));
}
inline std::string cifar100_record(int coarse, int label, int tag) {
  return std::string(1, static_cast<char>(coarse)) + cifar10_record(label, tag);
}

inline void write_mnist(const TempDir& dir, const std::string& folder = "m") {
  dir.write(folder + "/train-images-idx3-ubyte", mnist_images(3));
  dir.write(folder + "/train-labels-idx1-ubyte", mnist_labels({7, 0, 9}));
  dir.write(folder + "/t10k-images-idx3-ubyte", mnist_images(2));
  dir.write(folder + "/t10k-labels-idx1-ubyte", mnist_labels({1, 2}));
}

inline void write_cifar10(const TempDir& dir, const std::string& folder = "c") {
  for (int file = 1; file <= 5; ++file) {
    dir.write(concat(folder, "/data_batch_", file, ".bin"),
              cifar10_record(file, file) + cifar10_record(file + 4, 99));
  }
  dir.write(folder + "/test_batch.bin", cifar10_record(0, 50));
}

inline void write_cifar100(const TempDir& dir, const std::string& folder = "h") {
  dir.write(folder + "/train.bin", cifar100_record(19, 99, 1) + cifar100_record(0, 0, 2));
  dir.write(folder + "/test.bin", cifar100_record(3, 42, 3));
  dir.write(folder + "/fine_label_names.txt", "apple\n");
}

}  // namespace dataline
