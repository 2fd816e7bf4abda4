// Files of a dataset that cannot be opened, or are not what was written: which failures are of a file alone, and what is put in its place.
// Threads: one at a time; the sources are immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/composed/composed.h"
#include "core/source/source.h"

namespace dataline {

// Whether a failure is the file's own. Failures of the machine, the URI or the caller's options would meet each file.
bool is_damage(const Status& status);

// The records of `source`, each of which fails with this status: bytes that are there and are not to be trusted.
SourceRef damaged_source(SourceRef source, Status damage);
// `source`, with these notes before its own.
SourceRef with_notes(SourceRef source, std::vector<std::string> notes);

// What files that are opened one after another lack, by the option bad_files.
class Losses {
 public:
  explicit Losses(const OpenContext& context) : context_(context) {}

  // kSkip: the file is not among the parts.
  void leave_out(Status cause);
  // kKeep: it is, with so many samples that fail. `opened`: how many parts come before it that are none of these.
  void keep_place(size_t opened, std::string path, int64_t samples, Status cause);
  // Of files that stay, and of sets.
  void note(const Status& cause) { add(kDamaged, cause); }

  // Puts those whose places are kept among the others, of which there is one at least.
  void fill_places(std::vector<Part>& parts);
  // Why no file could be opened; ok: each could.
  const Status& first() const { return first_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add(std::string_view kind, const Status& cause);

  struct Lost {
    size_t place;  // among all
    std::string path;
    int64_t samples;
    Status cause;
  };
  const OpenContext& context_;
  std::vector<Lost> lost_;
  std::vector<std::string> notes_;
  Status first_;
};

}  // namespace dataline
