// Labels with a known range: a record whose label is out of range fails before a trainer indexes with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/source/source.h"

namespace dataline {

struct LabelBound {
  size_t field = 0;  // a scalar u8 or i64 field that is a column of its own
  int64_t max = 0;   // labels are 0 .. max
};

// Rows with a label out of range fail with kCorrupt, naming file, record and label. Costs one load per label and row, from
// a cache line that is copied next anyway.
SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds);

}  // namespace dataline
