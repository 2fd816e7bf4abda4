// A mix: datasets (parts) that are drawn in given shares, or each sample of them so many times an epoch. To readers of records it is
// its parts one after another, as one index space; which part comes when is the loader's business (order/mix.h), which reads
// the recipe here.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/composed/composed.h"
#include "core/source/composed/shard_index.h"

namespace dataline {

constexpr int64_t kMaxMixParts = int64_t{1} << 22;
// Each has programs and scratch of its own in every loader.
constexpr size_t kMaxMixGroups = 1024;

// The weights of all parts from a step of the job on.
struct MixStage {
  int64_t step = 0;
  std::vector<double> weights;
};

// What the caller wants. Either all parts have a repeat, or none.
struct MixPart {
  std::string name;  // empty: its number
  SourceRef source;
  std::string uri;             // may be empty
  double weight = 0;           // relative to the others; 0: not drawn, until a stage says otherwise
  double repeat = 0;           // how often an epoch has each of its samples
  std::string transform = {};  // of its samples, before the loader's; may be empty
};
struct MixRecipe {
  std::vector<MixPart> parts;
  std::vector<MixStage> schedule;  // of weights, by step
  int64_t samples_per_epoch = -1;  // of weights; -1: as many as the parts have

  std::string part_name(size_t k) const;
  std::string part_words(size_t k) const;  // "part web"
  std::vector<double> weights() const;     // of the parts
  bool by_repeats() const;
};

// Parts whose samples are made in the same way: of one transform and the same stored fields.
struct MixGroup {
  int64_t first_part = 0;
  std::string transform;
  std::vector<Field> stored;  // as their sources give them
};

class Mix {
 public:
  int64_t part_count() const { return static_cast<int64_t>(names_.size()); }
  const std::string& name(int64_t part) const { return names_[static_cast<size_t>(part)]; }
  const std::string& uri(int64_t part) const { return uris_[static_cast<size_t>(part)]; }
  int64_t samples(int64_t part) const { return index_.end(part) - index_.start(part); }
  // Each part's first record, and the end.
  std::span<const int64_t> starts() const { return index_.starts(); }
  int64_t start(int64_t part) const { return index_.start(part); }
  int64_t part_of(int64_t record) const { return index_.shard_of(record); }

  // At least one, in the order of their first parts.
  const std::vector<MixGroup>& groups() const { return groups_; }
  int32_t group_of(int64_t part) const {
    return group_of_.empty() ? 0 : group_of_[static_cast<size_t>(part)];
  }
  const std::string& transform(int64_t part) const {
    return groups_[static_cast<size_t>(group_of(part))].transform;
  }
  // The records are not samples yet: a loader makes them with the transforms of the parts, or each part has shapes of its own.
  bool grouped() const { return groups_.size() > 1 || !groups_[0].transform.empty(); }

  bool by_repeats() const { return !repeats_.empty(); }
  std::span<const double> repeats() const { return repeats_; }  // one a part; empty: by weights
  std::span<const MixStage> stages() const { return stages_; }  // the first from step 0; empty: by repeats
  int64_t samples_per_epoch() const { return samples_per_epoch_; }
  // Of the samples drawn at the beginning of a job, the part's share.
  double share(int64_t part) const;

 private:
  friend Result<SourceRef> mix_sources(MixRecipe recipe);
  explicit Mix(ShardIndex index) : index_(std::move(index)) {}
  double drawn(int64_t part) const;

  ShardIndex index_;
  std::vector<std::string> names_, uris_;
  std::vector<MixGroup> groups_;
  std::vector<int32_t> group_of_;  // one a part; empty: one group
  std::vector<double> repeats_;
  std::vector<MixStage> stages_;
  int64_t samples_per_epoch_ = -1;
  double sum_ = 0;  // of what share() divides
};

// Where the loader's user finds a record: the part (0 where there is no mix) and the index in it.
struct SampleName {
  int64_t source = 0, index = 0;
};
SampleName sample_name(const Source& source, int64_t record);
std::string sample_text(const Source& source, int64_t record);  // "sample 7", "sample 7 of part code"
// with_sample() of a record.
Status with_record(Status status, const Source& source, int64_t record);

// kUnsupported of a mix that is grouped(): `what` takes samples as they are stored. Ok for all other sources.
Status refuse_grouped(const Source& source, std::string_view what);

// The parts have fields of the same names. Without transforms, they are the same fields but for their shapes; with them, what
// becomes of them is not known here (loader/mixed_fields.h). kMismatch names both parts, the difference, and what would make
// them fit. kEmpty: a part without samples. kTooLarge: more than kMaxMixGroups groups. kUnsupported: a part that is a mix or a stream. kOutOfRange: a weight, repeat, step or
// samples_per_epoch that cannot be. kInvalidArgument: no part, two of one name, weights and repeats in one recipe.
Result<SourceRef> mix_sources(MixRecipe recipe);

// Checks what needs no data, so that a recipe is refused before its files are opened.
Status check_recipe(const MixRecipe& recipe);

}  // namespace dataline
