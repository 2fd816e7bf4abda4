// Any composition of zip, concat and subset equals the plain one, done on lists of rows.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/source/composed/composed.h"
#include "tests/source/composed/compose_support.h"

namespace dataline::compose_property_test {
namespace {

// A dataset beside its plain meaning: rows of (id, text).
struct Model {
  SourceRef source;
  std::vector<std::pair<int64_t, std::string>> rows;
};

Model leaf(uint16_t tag, int64_t count, bool reader) {
  Model model{reader ? read_texts(tag, count) : texts(tag, count), {}};
  for (int64_t i = 0; i < count; ++i) {
    model.rows.emplace_back(tag * 1000 + i,
                            std::string(static_cast<size_t>(i % 5), static_cast<char>('a' + tag)));
  }
  return model;
}

Model concat_models(const std::vector<Model>& models) {
  Model out;
  std::vector<Part> parts;
  for (const Model& model : models) {
    parts.push_back({"", model.source, ""});
    out.rows.insert(out.rows.end(), model.rows.begin(), model.rows.end());
  }
  out.source = concat_sources(std::move(parts)).take();
  return out;
}

Model subset_model(const Model& model) {
  Model out;
  std::vector<int64_t> indices;
  if (!model.rows.empty()) {
    indices = *rc::gen::container<std::vector<int64_t>>(
        rc::gen::inRange<int64_t>(0, static_cast<int64_t>(model.rows.size())));
  }
  for (int64_t index : indices) out.rows.push_back(model.rows[static_cast<size_t>(index)]);
  out.source = subset_source(model.source, indices, {}, *HostMemory::create({})).take();
  return out;
}

// A tree of compositions, at most `depth` high.
Model any_model(int depth) {
  int kind = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  if (kind <= 1) {
    return leaf(static_cast<uint16_t>(*rc::gen::inRange(0, 20)), *rc::gen::inRange<int64_t>(0, 30),
                *rc::gen::arbitrary<bool>());
  }
  if (kind == 2) return subset_model(any_model(depth - 1));
  std::vector<Model> models;
  int count = *rc::gen::inRange(1, 45);  // on both sides of where concat sorts a run's rows by shard
  for (int i = 0; i < count; ++i) models.push_back(any_model(i < 2 ? depth - 1 : 0));
  return concat_models(models);
}

// Ascending stretches and single draws, as file order and shuffles give.
std::vector<int64_t> any_indices(int64_t count) {
  std::vector<int64_t> indices;
  if (count == 0) return indices;
  for (auto [begin, length] : *rc::gen::container<std::vector<std::pair<int64_t, int64_t>>>(
           rc::gen::pair(rc::gen::inRange<int64_t>(0, count), rc::gen::inRange<int64_t>(1, 80)))) {
    for (int64_t i = begin; i < std::min(begin + length, count); ++i) indices.push_back(i);
  }
  return indices;
}

void check_rows(const Model& model) {
  RC_ASSERT(model.source->count() == static_cast<int64_t>(model.rows.size()));
  std::vector<int64_t> indices = any_indices(model.source->count());
  FetchOptions options;
  options.run_records = *rc::gen::inRange<int64_t>(1, kMaxRunRecords + 1);
  options.max_bytes_per_sample = 4;
  Fetched rows = fetch(*model.source, indices, options);
  RC_ASSERT(rows.errors.empty());
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto& [id, text] = model.rows[static_cast<size_t>(indices[i])];
    RC_ASSERT(rows.bytes[0][i] == raw_bytes(id));
    RC_ASSERT(rows.bytes[1][i] == text);
  }
  model.source->advise(indices);
}

RC_GTEST_PROP(Compose, AnyTreeOfConcatAndSubsetDeliversThePlainRows, ()) { check_rows(any_model(3)); }

RC_GTEST_PROP(Compose, ZipDeliversBothSides, ()) {
  Model left = any_model(2);
  int64_t count = left.source->count();
  // The other side: any rows, brought to the same length by a subset.
  Model right = leaf(7, 30, *rc::gen::arbitrary<bool>());
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t& index : indices) index = *rc::gen::inRange<int64_t>(0, 30);
  SourceRef chosen = subset_source(right.source, indices, {}, *HostMemory::create({})).take();
  SourceRef zip = zip_sources({{"l", left.source, ""}, {"r", chosen, ""}}).take();
  std::vector<int64_t> wanted = any_indices(count);
  Fetched rows = fetch(*zip, wanted);
  RC_ASSERT(rows.errors.empty());
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto at = static_cast<size_t>(wanted[i]);
    RC_ASSERT(rows.bytes[1][i] == left.rows[at].second);
    RC_ASSERT(rows.bytes[2][i] == raw_bytes(right.rows[static_cast<size_t>(indices[at])].first));
  }
}

}  // namespace
}  // namespace dataline::compose_property_test
