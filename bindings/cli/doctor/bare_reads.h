// What storage gives to threads that do nothing but read: the same files, without a loader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/doctor/findings.h"

namespace dataline::cli {

// The files and objects of a URI as dl_dataset_uri writes it; of folders the first few thousand files. Empty where the paths are not
// those of the data (a recipe of mix:), or the URI has none.
std::vector<std::string> files_of_uri(const std::string& uri);

// Pieces of `piece_bytes` at random places for `seconds`, then as long in file order. Nothing where the files cannot be read so.
std::optional<BareReads> bare_reads(const std::vector<std::string>& files, const dl_options* options,
                                    int64_t piece_bytes, double seconds);

}  // namespace dataline::cli
