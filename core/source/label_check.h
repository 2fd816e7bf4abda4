// Labels that a format bounds: a record whose label is beyond fails alone, before a trainer indexes with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/source/source.h"

namespace dataline {

struct LabelBound {
  size_t field = 0;     // a scalar u8 or i64 field that is a column of its own
  int64_t largest = 0;  // labels are 0 .. largest
};

// Rows with a label out of bounds fail with kCorrupt, naming file, record and label. Costs one byte's load a
// label and row, from the line that is copied next.
SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds);

}  // namespace dataline
