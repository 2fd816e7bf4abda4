// The classic labelled image sets, from the directory that holds their usual files, plain or .gz.
//
// mnist (and sets published under its names: Fashion-MNIST, KMNIST): image u8 28x28 (axes HW), label 0 to 9.
// cifar10, cifar100 (binary version; files may be short): image u8 3x32x32 (axes CHW), label; cifar100:
// coarse too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct ImageSetOptions {
  bool test = false;      // which split
  bool label_u8 = false;  // labels as stored, else i64
};

// kNotFound (what is missing), kMismatch (image and label counts, or another shape), kUnsafeType (only the
// pickled Python version is there); a label out of range fails its record (kCorrupt).
Result<SourceRef> open_mnist(const std::string& path, const ImageSetOptions& options,
                             const OpenContext& context);
Result<SourceRef> open_cifar10(const std::string& path, const ImageSetOptions& options,
                               const OpenContext& context);
Result<SourceRef> open_cifar100(const std::string& path, const ImageSetOptions& options,
                                const OpenContext& context);

}  // namespace dataline
