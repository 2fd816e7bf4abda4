// Mixes whose parts have transforms or sizes of their own, and the plain mix that says what a loader must make of them: of
// the same parts, each transformed before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "tests/loader/mixes.h"

namespace dataline::tests {

// `count` images [side, side], all of different pixels, with labels: sample i has label i % 4.
struct Images {
  int64_t side = 0, count = 0;
  int first = 0;  // pixel

  Dataset dataset() const {
    std::vector<uint8_t> pixels;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t p = 0; p < side * side; ++p)
        pixels.push_back(static_cast<uint8_t>(first + 31 * i + 7 * p));
      labels.push_back(i % 4);
    }
    return of(DL_DTYPE_U8, {count, side, side}, pixels.data(), labels);
  }

  static Dataset of(int32_t dtype, const std::vector<int64_t>& shape, const void* pixels,
                    const std::vector<int64_t>& labels) {
    const std::vector<int64_t> label_shape = {static_cast<int64_t>(labels.size())};
    dl_array arrays[] = {array_of("image", dtype, shape, pixels),
                         array_of("label", DL_DTYPE_I64, label_shape, labels.data())};
    arrays[0].axes = "HW";
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
        << error.message;
    return Dataset(dataset);
  }
};

struct TransformedPart {
  const char* name;
  dl_dataset* dataset;
  std::string transform;
  double weight = 0, repeat = 0;
};

struct MadeMix {
  dl_status status = DL_OK;
  std::string message;
  Dataset dataset;
};

inline MadeMix mix_of(const std::vector<TransformedPart>& parts, const Settings& settings = {}) {
  std::vector<dl_mix_part> raw;
  for (const TransformedPart& part : parts) {
    dl_mix_part one = {};
    one.struct_size = sizeof one;
    one.name = part.name;
    one.dataset = part.dataset;
    one.weight = part.weight;
    one.repeat = part.repeat;
    one.transform = part.transform.empty() ? nullptr : part.transform.c_str();
    raw.push_back(one);
  }
  MadeMix out;
  Error error;
  dl_dataset* dataset = nullptr;
  out.status = dl_dataset_mix(raw.data(), static_cast<int32_t>(raw.size()), nullptr, 0, -1,
                              make_options(settings).get(), &dataset, &error);
  out.message = error.message;
  out.dataset.reset(dataset);
  return out;
}

inline Dataset good_mix(const std::vector<TransformedPart>& parts) {
  MadeMix made = mix_of(parts);
  EXPECT_EQ(made.status, DL_OK) << made.message;
  return std::move(made.dataset);
}

// All that a consumer sees of a batch, or how it ended.
struct SeenField {
  std::string name;
  int32_t dtype = 0;
  std::vector<int64_t> shape;
  std::string bytes;
  bool operator==(const SeenField&) const = default;
};
struct SeenBatch {
  dl_status status = DL_OK;
  std::string message;
  int64_t epoch = -1, step = -1, valid = -1;
  std::vector<int64_t> sources, indices;
  std::vector<SeenField> fields;
  bool operator==(const SeenBatch&) const = default;
};
inline void PrintTo(const SeenBatch& batch, std::ostream* out) {
  *out << "status " << batch.status << " " << batch.message << ", epoch " << batch.epoch << ", step "
       << batch.step << ", valid " << batch.valid << ", samples";
  for (size_t row = 0; row < batch.indices.size(); ++row)
    *out << " " << batch.sources[row] << ":" << batch.indices[row];
  for (const SeenField& field : batch.fields) {
    *out << "; " << field.name << " dtype " << field.dtype << " shape "
         << ::testing::PrintToString(field.shape) << " bytes";
    for (size_t at = 0; at < std::min<size_t>(field.bytes.size(), 48); ++at)
      *out << " " << static_cast<int>(static_cast<unsigned char>(field.bytes[at]));
  }
}

inline SeenBatch see_next(const Loader& loader) {
  Delivered got = next(loader);
  SeenBatch seen{got.status, got.message, got.epoch, got.step, got.valid, {}, got.indices, {}};
  if (got.status != DL_OK) return seen;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(dl_batch_get_info(got.batch.get(), &info, nullptr), DL_OK);
  seen.sources.assign(info.sample_sources, info.sample_sources + info.samples);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  for (int32_t f = 0; f < count; ++f) {
    const dl_view& view = views[f];
    const auto* data = static_cast<const char*>(view.data) + view.byte_offset;
    seen.fields.push_back({view.name, view.dtype, {view.shape, view.shape + view.rank}, {}});
    seen.fields.back().bytes.assign(data, static_cast<size_t>(view.bytes));
  }
  return seen;
}

// To the end of the job.
inline std::vector<SeenBatch> see_job(const Loader& loader) {
  std::vector<SeenBatch> all;
  do all.push_back(see_next(loader));
  while (all.back().status == DL_OK || all.back().status == DL_END_OF_EPOCH);
  return all;
}

// The same part, transformed before: a set of the rows that `transform` makes, which draws nothing.
inline Dataset transformed(const Dataset& part, const std::string& transform) {
  std::string pixels;
  std::vector<int64_t> labels, shape;
  int32_t dtype = 0;
  const Loader loader = make_loader(part, {{"batch_size", "7"}, {"epochs", "1"}, {"transform", transform}});
  for (SeenBatch& batch : see_job(loader)) {
    if (batch.status != DL_OK) break;
    const SeenField& image = batch.fields[0];
    dtype = image.dtype;
    shape = image.shape;
    pixels += image.bytes;
    const auto* first = reinterpret_cast<const int64_t*>(batch.fields[1].bytes.data());
    labels.insert(labels.end(), first, first + batch.indices.size());
  }
  shape[0] = static_cast<int64_t>(labels.size());
  return Images::of(dtype, shape, pixels.data(), labels);
}

}  // namespace dataline::tests
