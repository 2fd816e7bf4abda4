// The transforms of a mix's parts: what samples become before the loader's own transform, so that parts of different sizes,
// types or scales make one batch. Parts of one transform and one set of stored fields are a group (Mix::groups), with programs of its own.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/source/source.h"
#include "core/transform/transform.h"

namespace dataline {

class Options;
struct BucketConfig;  // core/loader/config/buckets.h
struct SampleConfig;  // core/loader/config/sample.h

// As its columns hold them: of a mix those of a group, of any other source its schema's.
std::span<const Field> stored_fields(const Source& source, size_t group);

// A mix that is grouped() with the fields of its samples: stored ones, with the transforms of the parts. Where only sizes differ
// from part to part, the field is by_part. Any other source as it is.
// kMismatch names two parts, a field, and what would make them alike. kBadTransform, kNoSuchField: the transform of a part; of a
// recipe's kCorrupt, with the recipe. Reads the header of one image of each group whose transform asks for it.
Result<SourceRef> with_mixed_fields(SourceRef source, const Options& options);

// All that a loader does to samples.
struct GroupTransforms {
  std::vector<CompiledTransforms> groups;  // one, unless parts of a mix differ
  std::vector<Field> outputs;              // of all groups
  // By group and field; empty unless a field is by_part.
  std::vector<std::vector<std::vector<int64_t>>> part_shapes;
};

// `sizes_by_part`: a batch has samples of one part, so that sizes may differ from part to part.
// The transforms of parts, each followed by the loader's. kBadTransform, kNoSuchField. kMismatch as above: also where sizes differ by part and a
// batch may have samples of several.
Result<GroupTransforms> compile_groups(const Source& source, const SampleConfig& config,
                                       const BucketConfig& buckets, bool sizes_by_part);

}  // namespace dataline
