// A set of small JPEG files in memory, with labels: sample i of size(i), every one of its own quality, so that no two of
// a size decode to the same pixels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "tests/support/job.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::tests {

struct ImageSize {
  int height = 48, width = 64;
};

struct Photographs {
  int64_t count = 24;
  std::function<ImageSize(int64_t)> size = [](int64_t i) {
    return ImageSize{40 + static_cast<int>(i % 5) * 8, 64 + static_cast<int>(i % 3) * 16};
  };
  std::set<int64_t> broken;   // cut in the middle of their first line
  std::set<int64_t> damaged;  // their data ends early, which libjpeg warns of

  std::string file(int64_t index) const {
    JpegKind kind;
    kind.height = size(index).height;
    kind.width = size(index).width;
    kind.quality = 40 + static_cast<int>(index % 50);
    std::string bytes = make_jpeg(kind);
    if (broken.contains(index)) bytes.resize(30);
    if (damaged.contains(index)) bytes = bytes.substr(0, bytes.size() * 2 / 3) + "\xFF\xD9";
    return bytes;
  }

  // As files of two classes in a folder, in the order of their numbers: 000.jpg, 002.jpg, ... and then 001.jpg, ...
  static std::string path_in(const std::string& folder, int64_t index) {
    const std::string number = std::to_string(1000 + index).substr(1);
    return folder + (index % 2 == 0 ? "/cat/" : "/dog/") + number + ".jpg";
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void write_to(const std::string& folder) const {
    for (int64_t i = 0; i < count; ++i) write(path_in(folder, i), file(i));
  }
  static Dataset of_folder(const std::string& folder, const Settings& settings = {}) {
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_open(("folder:" + folder).c_str(), make_options(settings).get(), &dataset, &error),
              DL_OK)
        << error.message;
    return Dataset(dataset);
  }

  // Fields: image (ragged u8), label (i64, index % 5).
  Dataset dataset() const {
    std::string data;
    std::vector<int64_t> offsets = {0}, labels;
    for (int64_t i = 0; i < count; ++i) {
      data += file(i);
      offsets.push_back(static_cast<int64_t>(data.size()));
      labels.push_back(i % 5);
    }
    const int64_t image_shape[] = {offsets.back()}, label_shape[] = {count};
    dl_array arrays[2] = {};
    for (dl_array& array : arrays) array.struct_size = sizeof array;
    arrays[0].name = "image";
    arrays[0].kind = DL_KIND_RAGGED;
    arrays[0].dtype = DL_DTYPE_U8;
    arrays[0].rank = 1;
    arrays[0].shape = image_shape;
    arrays[0].data = data.data();
    arrays[0].offsets = offsets.data();
    arrays[0].sample_count = count;
    arrays[1].name = "label";
    arrays[1].dtype = DL_DTYPE_I64;
    arrays[1].rank = 1;
    arrays[1].shape = label_shape;
    arrays[1].data = labels.data();
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
        << error.message;
    return Dataset(dataset);
  }
};

inline const dl_view& view_of(const Batch& batch, int32_t field) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch.get(), &count);
  EXPECT_LT(field, count);
  return *dl_view_at(views, field);
}
inline std::vector<int64_t> shape_of(const dl_view& view) { return {view.shape, view.shape + view.rank}; }
inline std::string bytes_of(const dl_view& view) {
  return {static_cast<const char*>(view.data) + view.byte_offset, static_cast<size_t>(view.bytes)};
}

// Everything that a batch says, as text: equal texts are equal batches.
inline std::string digest_of(const Delivered& got) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  Digest digest;
  for (int32_t f = 0; f < count; ++f) {
    digest.add(std::as_bytes(std::span(views[f].shape, static_cast<size_t>(views[f].rank))));
    digest.add(bytes_of(views[f]));
  }
  digest.add(std::as_bytes(std::span(got.indices)));
  return std::to_string(got.epoch) + "/" + std::to_string(got.step) + " " + digest.hex();
}

// Batches up to the job's end, each a line. `held`: how many are kept before the oldest is released.
inline std::vector<std::string> stream_of(const Loader& loader, size_t held = 0) {
  std::vector<std::string> lines;
  std::vector<Delivered> kept;
  for (;;) {
    Delivered got = next(loader);
    if (got.status == DL_END) return lines;
    if (got.status == DL_END_OF_EPOCH) continue;
    EXPECT_EQ(got.status, DL_OK) << got.message;
    if (got.status != DL_OK) return lines;
    lines.push_back(digest_of(got));
    kept.push_back(std::move(got));
    if (kept.size() > held) kept.erase(kept.begin());
  }
}

}  // namespace dataline::tests
