// The classic labelled image sets, opened from the directory that holds their files as published, plain or .gz.
//
// mnist (and sets published under its file names: Fashion-MNIST, KMNIST): image u8 28x28 (axes HW), label 0 to 9.
// cifar10, cifar100 (binary version; files may be shorter): image u8 3x32x32 (axes CHW), label; cifar100 also coarse.
// Opening: kNotFound (naming what is missing), kMismatch (counts of images and labels, or another shape), kUnsafeType (only
// the pickled Python version is there). A label out of range fails its record (kCorrupt).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/format.h"
#include "core/source/source.h"

namespace dataline {

inline constexpr KeySpec kSplitKey{"split", "train|test", "train", "which part of the set"};
inline constexpr KeySpec kImageSetKeys[] = {kSplitKey, kLabelDtypeKey};

struct ImageSetOptions {
  bool test = false;      // the test split, else train
  bool label_u8 = false;  // labels as stored, else i64
};
Result<ImageSetOptions> image_set_options(const Uri& uri);

bool any_exists(const std::string& directory, std::initializer_list<std::string_view> names);

// The directory with the files, which is the given one or one that an archive or torchvision makes
// inside it. Tries `folders` in order ("" is the given one) for one that has any of `names`, plain or .gz. kNotFound says
// what was looked for; file errors name the path.
Result<std::string> find_set_folder(const std::string& path, std::span<const std::string_view> folders,
                                    std::span<const std::string_view> names);

// The first of `names` that exists in `folder`, plain before .gz.
Result<std::string> find_set_file(const std::string& folder, std::span<const std::string_view> names);

// A field whose labels have a known range.
struct LabelBound {
  size_t field = 0;  // a scalar u8 or i64 field that is a column of its own
  int64_t max = 0;   // labels are 0 .. max
};

// Fails rows with a label out of range (kCorrupt, naming file, record and label), before a trainer indexes with it. Costs one
// load per label and row, from a cache line that is copied next anyway.
SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds);

}  // namespace dataline
