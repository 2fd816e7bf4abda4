// tf.train.Example records as fields.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/source/nulls.h"
#include "core/source/tfrecord/features.h"
#include "core/source/tfrecord/record_source.h"

namespace dataline {

// All types of the fields are declared. A record that has not exactly their features is a bad sample (kCorrupt), which says what
// would read it; features that no field names are skipped.
SourceRef example_records(RecordFile records, std::vector<FeatureField> fields, std::optional<NullFill> fill,
                          SourceInfo info);

}  // namespace dataline
