// Samples in tar archives, by WebDataset's conventions (tar_index.h), with random access into the mapped file.
//
// Fields: `image` (jpg, jpeg, png, webp) as stored, `label` (cls: decimal text), every other extension under its own name as
// ragged u8, and `key`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/source/source.h"
#include "core/source/tar/tar_index.h"

namespace dataline {

// Opens one archive. The errors of TarIndex::read(); kUnsupported for compressed archives, kCorrupt for other files in place
// of an archive (git-LFS pointers, HTML pages). A sample that lacks a field, or whose label is not a number, fails its
// own row (kCorrupt, kOutOfRange), naming file, offset and member.
Result<SourceRef> open_tar(const std::string& path, const TarOptions& options, const OpenContext& context);
// The same for a file that is already open.
Result<SourceRef> open_tar(MappedFile file, const TarOptions& options, const OpenContext& context);

}  // namespace dataline
