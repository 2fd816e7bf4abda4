// Files that a command must not write, because it reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

// For a check before a run: throws Failure if `target` is a file that the URI names, whatever name or link leads to it. Also for
// a file, new or not, below a directory that the URI names: the next open would count it. Also for a file beside shards that the
// URI names by a pattern, if its extension is theirs. `-` is accepted.
void refuse_own_file(const std::string& target, std::string_view uri);

}  // namespace dataline::cli
