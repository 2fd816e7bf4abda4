// Where a transform is cut for a cache: what is done before a sample is kept, and what is left to be done to it each time.
//
// Of each field as many operators as give the same for a record at any time (no draws, no operators of the host's, nothing that
// depends on the batch) are done before. Of images, which take most of the time, at least decode; beyond that the cut is where a
// sample takes the least room: before `normalize`, behind `resize`.
// Images whose sizes differ are kept as PAM files, which `decode` reads without a copy: so what is left begins with it.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/loader/options.h"
#include "core/source/source.h"
#include "core/transform/transform.h"

namespace dataline {

struct CutField {
  Field kept;                              // as it lies in the cache
  std::unique_ptr<const Program> program;  // makes it
  std::string before;                      // the operators of the program; "": as it is stored
  bool as_pam = false;                     // an image in a file of its own size
  bool only_decodes = false;               // so that what is left takes the stored image as well
};

struct TransformCut {
  std::vector<CutField> fields;  // one a field
  std::string after;             // the transform of what is kept
  std::vector<int64_t>
      places;  // TransformSettings::first_places of it: its draws are those of the whole transform
};

// The loader's transform, which has been compiled whole before, so that its faults are told with their columns.
Result<TransformCut> cut_transform(const Source& source, const LoaderConfig& config);

}  // namespace dataline
