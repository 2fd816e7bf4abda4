// What all code assumes of the machine it is compiled for. Another target stops the build here, with the assumption and
// its reason, instead of giving a library whose bytes are wrong. Nothing else: a file that is compiled with every library.
//
// Tried: Linux on x86-64 and aarch64 (gcc, clang), and 64-bit Windows on x86-64 (mingw-w64: tests/windows.sh).
// A condition is preprocessed where it can be, so that a test can ask it of targets it has no compiler for
// (tests/law/check_target.py).
// SPDX-License-Identifier: Apache-2.0
#if !defined(__GNUC__)
#error \
    "Dataline: gcc or clang is needed (Windows: mingw-w64), for their builtins, attributes and vector types."
#else

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error \
    "Dataline: a little-endian target is needed: files, kernels and saved indexes are read in native byte order."
#endif
#if __SIZEOF_POINTER__ != 8
#error \
    "Dataline: a 64-bit target is needed: whole files are mapped, and the structs of dataline.h have 8-byte pointers."
#endif
#if __CHAR_BIT__ != 8
#error "Dataline: bytes of 8 bits are needed: records and views are addressed in bytes."
#endif
#if __GCC_ATOMIC_INT_LOCK_FREE != 2 || __GCC_ATOMIC_LLONG_LOCK_FREE != 2 || \
    __GCC_ATOMIC_POINTER_LOCK_FREE != 2
#error "Dataline: lock-free 64-bit atomics are needed: threads and signal handlers pass slots with them."
#endif

#include <limits>

namespace dataline {

static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4 &&
                  std::numeric_limits<double>::is_iec559 && sizeof(double) == 8,
              "Dataline: IEEE 754 floats are needed: files and batches store native floats");
static_assert(sizeof(int) == 4 && sizeof(long long) == 8,
              "Dataline: a 32-bit int and a 64-bit long long are needed by the compiler builtins");

}  // namespace dataline

#endif
