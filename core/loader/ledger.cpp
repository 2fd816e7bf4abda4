// SPDX-License-Identifier: Apache-2.0
#include "core/loader/ledger.h"

#include <algorithm>

namespace dataline {

bool Ledger::book_bad_rows(Slot& slot, int64_t max_bad) {
  std::vector<BadRow>& rows = slot.bad_rows();
  std::sort(rows.begin(), rows.end(), [](const BadRow& a, const BadRow& b) { return a.row < b.row; });
  for (const BadRow& row : rows) {
    if (!known_.insert(row.sample_index).second) continue;
    bad.push_back({.code = row.cause.code(),
                   .index = row.sample_index,
                   .epoch = slot.epoch,
                   .step = slot.step,
                   .slot = row.slot,
                   .replacement = row.replacement,
                   .message = row.cause.message()});
  }
  return max_bad < 0 || static_cast<int64_t>(bad.size()) <= max_bad;
}

Status bad_step_error(const Slot& slot, const std::vector<BadRow>& rows) {
  constexpr size_t kNamed = 8;  // more would be cut from the message anyway
  std::string causes;
  int64_t first = -1, count = 0;
  for (const BadRow& row : rows) {
    if (row.replacement >= 0) continue;
    if (first < 0) first = row.sample_index;
    if (count++ < static_cast<int64_t>(kNamed)) {
      causes += concat(causes.empty() ? "" : "; ", "sample ", row.sample_index, ": ", row.cause.message());
    }
  }
  if (count > static_cast<int64_t>(kNamed)) causes += concat("; and ", count - kNamed, " more");
  return error(Code::kBadSample, "step ", slot.step, ": ", count, " of ", slot.loaded,
               " samples are bad: ", causes)
      .with_sample(first);
}

}  // namespace dataline
