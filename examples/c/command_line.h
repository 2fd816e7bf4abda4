// What the examples take on their command lines: `--flag value`, `--flag=value`, `--help`, and paths that
// become URIs. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

typedef struct flag {
  const char* name;   // "--epochs"
  const char* value;  // its value's name in the help: "N", "DIR"
  const char* doc;
  const char** text;  // where a text goes, or
  int64_t* number;    // where an integer goes, which must lie in minimum .. maximum
  int64_t minimum;
  int64_t maximum;
} flag;

// Fills what the flags point to. `positional`, if not NULL, takes the one argument that is not a flag. --help
// prints `summary` and the flags and ends the program with 0; a wrong argument ends it with 2 and one line
// that says why.
void parse_command_line(int argc, char** argv, const char* summary, const flag* flags, int flag_count,
                        const char** positional);

// "scheme:path?query" with the path's % , ? & = written as %XX, so that any file name can be opened. The
// caller frees it; NULL when there is no memory.
char* uri_of_path(const char* scheme, const char* path, const char* query);
