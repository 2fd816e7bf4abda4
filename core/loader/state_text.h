// The text of a saved position: "key: value" lines, closed by a checksum.
//
//   dataline state 2
//   epoch: 3
//   step: 17
//   samples: 60000
//   ...
//   checksum: 0123456789abcdef
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/loader/epochs.h"

namespace dataline {

struct StateLine {
  std::string_view key;
  std::string value;
};

// A state that was read, damaged by nothing. Borrows the text.
class SavedState {
 public:
  // kBadState: what is wrong with the text. kStateRefused: a release before 0.3 saved it.
  static Result<SavedState> parse(std::string_view text);

  Position position() const { return position_; }
  // The value; null: there is no such line.
  const std::string_view* find(std::string_view key) const;
  size_t line_count() const { return lines_.size(); }  // with epoch and step

 private:
  struct Line {
    std::string_view key, value;
  };
  std::vector<Line> lines_;
  Position position_;
};

// `lines`: what follows the position.
std::string state_text(Position position, const std::vector<StateLine>& lines);
Status bad_state(std::string_view what);  // kBadState

}  // namespace dataline
