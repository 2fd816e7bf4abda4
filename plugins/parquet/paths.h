// The files that a path of a URI stands for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "library.h"

namespace dataline_parquet {

struct FoundFile {
  std::string path;
  std::string
      folders;  // between the directory that was named and the file: "year=2024/month=01"; empty: none
};

// The path itself, or the files of a directory and of its subdirectories. In each directory files and subdirectories come in
// natural order of their names. Names that begin with a dot or an underscore are left out, with all below them, as pyarrow
// does; so is __MACOSX.
Failure files_of(const std::string& path, std::vector<FoundFile>& out);

}  // namespace dataline_parquet
