// Mixes of small numbered datasets, through the C interface.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests {

struct PartSpec {
  const char* name;
  int64_t samples;
  double weight = 0, repeat = 0;
};
struct StageSpec {
  int64_t step;
  std::vector<double> weights;
};

// Sample i of part k has the value 1000 k + i.
inline Dataset numbered_dataset(int64_t part, int64_t samples) {
  std::vector<uint64_t> values(static_cast<size_t>(samples));
  std::iota(values.begin(), values.end(), static_cast<uint64_t>(1000 * part));
  return array_dataset(array_of("data", DL_DTYPE_U64, {samples}, values.data()));
}

inline std::pair<dl_status, std::string> try_mix(const std::vector<PartSpec>& parts,
                                                 const std::vector<StageSpec>& stages,
                                                 int64_t samples_per_epoch, Dataset& out) {
  std::vector<Dataset> datasets;
  std::vector<dl_mix_part> raw;
  for (size_t k = 0; k < parts.size(); ++k) {
    datasets.push_back(numbered_dataset(static_cast<int64_t>(k), parts[k].samples));
    dl_mix_part part = {};
    part.struct_size = sizeof part;
    part.name = parts[k].name;
    part.dataset = datasets[k].get();
    part.weight = parts[k].weight;
    part.repeat = parts[k].repeat;
    raw.push_back(part);
  }
  std::vector<dl_mix_stage> raw_stages;
  for (const StageSpec& stage : stages)
    raw_stages.push_back({sizeof(dl_mix_stage), 0, stage.step, stage.weights.data()});
  Error error;
  dl_dataset* dataset = nullptr;
  const dl_status status =
      dl_dataset_mix(raw.data(), static_cast<int32_t>(raw.size()), raw_stages.data(),
                     static_cast<int32_t>(raw_stages.size()), samples_per_epoch, nullptr, &dataset, &error);
  out.reset(dataset);
  return {status, error.message};
}

inline Dataset mix(const std::vector<PartSpec>& parts, const std::vector<StageSpec>& stages = {},
                   int64_t samples_per_epoch = -1) {
  Dataset dataset;
  const auto [status, message] = try_mix(parts, stages, samples_per_epoch, dataset);
  EXPECT_EQ(status, DL_OK) << message;
  return dataset;
}

inline const std::vector<PartSpec> kThree = {{"web", 60, 0.5}, {"code", 25, 0.3}, {"books", 40, 0.2}};

// Batch by batch, an end of an epoch as an empty one.
inline std::vector<std::vector<uint64_t>> job_batches(const Loader& loader, size_t most = 100000) {
  std::vector<std::vector<uint64_t>> all;
  while (all.size() < most) {
    Delivered got = next(loader);
    if (got.status == DL_END) break;
    EXPECT_TRUE(got.status == DL_OK || got.status == DL_END_OF_EPOCH) << got.message;
    if (got.status < 0) break;
    all.push_back(got.values);
  }
  return all;
}

inline std::vector<dl_part> parts_of(const Loader& loader) {
  std::vector<dl_part> parts;
  for (int32_t k = 0; k < dl_loader_part_count(loader.get()); ++k) {
    dl_part part = {};
    part.struct_size = sizeof part;
    Error error;
    EXPECT_EQ(dl_loader_part_at(loader.get(), k, &part, &error), DL_OK) << error.message;
    parts.push_back(part);
  }
  return parts;
}

inline const Settings kJob = {
    {"global_batch_size", "12"}, {"shuffle", "full"}, {"seed", "3"}, {"epochs", "3"}};
// Blocks of 5 samples.
inline const Settings kWindowJob = {
    {"global_batch_size", "12"}, {"shuffle", "window"},  {"seed", "3"}, {"epochs", "3"},
    {"shuffle_block", "40"},     {"shuffle_blocks", "4"}};

}  // namespace dataline::tests
