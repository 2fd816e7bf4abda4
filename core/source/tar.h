// Samples in tar archives, by WebDataset's conventions (tar_index.h), with random access into the mapped file.
//
// Fields: `image` (jpg, jpeg, png, webp) as it is stored, `label` (cls: decimal text), each other extension by its own
// name as ragged u8, and `key`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/source/source.h"
#include "core/source/tar_index.h"

namespace dataline {

// One archive. What TarIndex::read says; kUnsupported for compressed archives, kCorrupt for what stands in place of data
// (git-LFS pointers, HTML pages). A sample that lacks a field, or whose label is no number, fails alone (kCorrupt,
// kOutOfRange), naming file, offset and member.
Result<SourceRef> open_tar(const std::string& path, const TarOptions& options, const OpenContext& context);
// The same of a file that is open.
Result<SourceRef> open_tar(MappedFile file, const TarOptions& options, const OpenContext& context);

}  // namespace dataline
