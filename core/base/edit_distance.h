// The edit distance, for suggestions of names. The shell includes this header too, so it needs the standard library alone
// (tests/law/check_includes.py).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {

// Substitutions, insertions, deletions and swaps of neighbours cost one each.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, row(b.size() + 1);  // rows i - 2, i - 1 and i of the distance table
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace dataline
