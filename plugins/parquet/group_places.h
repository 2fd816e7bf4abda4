// Where the row groups of several files lie among the rows of all, and which of them has a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace dataline_parquet {

struct GroupPlace {
  int32_t file = 0;
  int32_t group = 0;
  int64_t first = 0;  // row of the dataset
};

// Only groups that have rows.
class GroupPlaces {
 public:
  void add(int32_t file, int32_t group, int64_t rows) {
    if (rows == 0) return;
    places_.push_back({file, group, this->rows()});
    ends_.push_back(this->rows() + rows);
  }
  // After the last add(): rows are cut into pieces of a power of two, two for a group or a few more, so that of() has to compare
  // the few ends that lie in one of them.
  void cut() {
    for (shift_ = 0; (rows() >> shift_) > static_cast<int64_t>(2 * places_.size()); ++shift_) {
    }
    for (int64_t row = 0; row < rows(); row += int64_t{1} << shift_)
      begins_.push_back(
          static_cast<uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin()));
    begins_.push_back(static_cast<uint32_t>(places_.size()));
  }

  size_t size() const { return places_.size(); }
  int64_t rows() const { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<int64_t>& ends() const { return ends_; }
  const GroupPlace& operator[](size_t number) const { return places_[number]; }

  // The group of a row; a few ns.
  size_t of(int64_t row) const {
    const uint32_t* const piece = begins_.data() + (row >> shift_);
    const int64_t* const ends = ends_.data();
    return static_cast<size_t>(std::upper_bound(ends + piece[0], ends + piece[1], row) - ends);
  }

 private:
  std::vector<GroupPlace> places_;  // ascending
  std::vector<int64_t> ends_;       // of each
  int shift_ = 0;
  std::vector<uint32_t> begins_;  // of each piece, the group of its first row; then their number
};

}  // namespace dataline_parquet
