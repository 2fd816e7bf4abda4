// Which mutant is on. In the mutants' build alone: mutate.py writes `on(N)` into a copy of the sources.
//
//   DATALINE_MUTANT=17            mutant 17 is on; without it none is, and the program is the one that was copied
//   DATALINE_MUTANT_REACH=FILE    a byte a mutant: set when its place was passed; shared with child processes
//
// Threads: any. What is read is written before the first use by whoever comes first, always the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace dataline_mutants {

constexpr int kNone = -1, kNotRead = -2;
constexpr unsigned long kMost = 1 << 16;

// Each library and program has its own; what they reach goes into the one file.
inline int chosen = kNotRead;
inline unsigned char* reached = nullptr;

inline void read_choice() {
  const char* number = std::getenv("DATALINE_MUTANT");
  if (const char* path = std::getenv("DATALINE_MUTANT_REACH")) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void* map = file < 0 ? MAP_FAILED : mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
  }
  chosen = number == nullptr ? kNone : std::atoi(number);
}

// Not constexpr: a mutant where the compiler needs a constant does not compile, and is left out.
inline bool on(int number) {
  if (chosen == kNotRead) read_choice();
  if (reached != nullptr && reached[number] == 0) reached[number] = 1;
  return number == chosen;
}

}  // namespace dataline_mutants
