// The files that a path of a URI stands for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "failure.h"

namespace dataline_parquet {

// The path itself, or the files of a directory in natural order.
Failure files_of(const std::string& path, std::vector<std::string>& out);

}  // namespace dataline_parquet
