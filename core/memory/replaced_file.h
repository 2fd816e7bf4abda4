// A file that is written anew in place, as a trace is: only where nothing of somebody else's is lost.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// Opens the file to write it, empty. Only a new file, an empty one and one that begins with `head` are written over: anything else
// at the path, a file of the dataset above all, is somebody's data, whatever name or link leads to it. `what` precedes the path in
// messages. kWrongState: the file holds something else. kNotAFile: a FIFO, a device, a socket, a directory; nothing blocks. The
// caller closes it.
Result<std::FILE*> open_replaced(const std::string& path, std::string_view head, std::string_view what);

}  // namespace dataline
