// SPDX-License-Identifier: Apache-2.0
#include "core/source/adjacent_records.h"

namespace dataline {

void AdjacentRecords::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  BlockCutter cutter(block_bytes, ends);
  for (int64_t i = 0, begin = records_.begin; i < count(); ++i) {
    const int64_t end = records_.ends[i];
    cutter.add((end - begin) * records_.unit_bytes);
    begin = end;
  }
  cutter.finish();
}

int64_t AdjacentRecords::stored_bytes() const {
  if (count() == 0) return 1;
  const int64_t units = records_.ends.back() - records_.begin;
  return mean_bytes(static_cast<double>(units) * static_cast<double>(records_.unit_bytes), count());
}

}  // namespace dataline
