// What composed sources are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/source/source.h"

namespace dataline {

struct Part {
  std::string name;  // zip only: names its fields; may be empty
  SourceRef source;
  std::string path;  // where it came from, for messages; may be empty
};

// What messages call parts[index]: its path, its name, or "part 3".
std::string part_text(const std::vector<Part>& parts, size_t index);

// Source::place_of() of a part's record; where that has no file, what the part is called stands for one.
Place place_in_part(const std::vector<Part>& parts, size_t index, int64_t record, size_t column);

// The distinct notes of the parts, in order; at most kMaxPartNotes.
constexpr size_t kMaxPartNotes = 16;
void add_part_notes(const Part& part, std::vector<std::string>& notes);

// Source::classes() of the first part that has some; null when none has.
const std::vector<std::string>* first_classes(const std::vector<Part>& parts);

// Labels number the classes of their own part: two parts that have some must have the same. kMismatch names both.
Status check_classes(const std::vector<Part>& parts, std::string_view what);

// Parts must have a known number of samples: kUnsupported names the part that streams. There must be one at
// least.
Status check_parts(const std::vector<Part>& parts, std::string_view what);

}  // namespace dataline
