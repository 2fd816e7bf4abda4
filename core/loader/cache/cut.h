// Where a transform is cut for a cache: what is done before a sample is kept, and what is left to be done to it each time.
//
// Of each field as many operators as give the same for a record at any time (no draws, no operators of the host's, nothing that
// depends on the batch) are done before. Of images, which take most of the time, at least decode; beyond that the cut is where a
// sample takes the least room: before `normalize`, behind `resize`.
// Images whose sizes differ are kept as PAM files, which `decode` reads without a copy: so what is left begins with it. With
// cache_quality all images are kept as JPEG files, cut behind the last operator that gives pixels.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/transform/transform.h"

namespace dataline {

enum class KeptAs : int32_t {
  kValues,  // as the program makes them
  kPam,     // an image of its own size
  kJpeg,    // an image, of a quality
};

struct CutField {
  Field kept;                              // as it lies in the cache
  std::unique_ptr<const Program> program;  // makes it, or the pixels of its file
  std::string before;                      // the operators of the program; "": as it is stored
  KeptAs as = KeptAs::kValues;
  bool only_decodes = false;  // an image: what is left of the transform takes it as it is stored, too
};

struct TransformCut {
  std::vector<CutField> fields;  // one a field
  std::string after;             // the transform of what is kept
  std::vector<int64_t>
      places;  // TransformSettings::first_places of it: its draws are those of the whole transform
};

// The loader's transform, which has been compiled whole before, so that its faults are told with their columns.
// `as_jpeg`: images are kept as JPEG files.
Result<TransformCut> cut_transform(const std::vector<Field>& fields, std::string_view transform,
                                   TransformSettings settings, bool as_jpeg);

}  // namespace dataline
