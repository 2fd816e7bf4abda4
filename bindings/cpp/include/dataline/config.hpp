// Settings that depend on how the host compiles, and the inline namespace that separates these variants at link time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !(__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "dataline.hpp needs C++17 or later (-std=c++17); older C++ can use the C interface, dataline.h"
#else

#include <dataline.h>

#if __has_include(<version>)
#include <version>
#endif

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define DATALINE_CPP_EXCEPTIONS 1
#else
#define DATALINE_CPP_EXCEPTIONS 0
#endif

#if defined(__cpp_lib_span) && __cpp_lib_span >= 202002L
#define DATALINE_CPP_STD_SPAN 1
#else
#define DATALINE_CPP_STD_SPAN 0
#endif

// An inline function that throws in one object file and terminates in another must have two names.
#if DATALINE_CPP_EXCEPTIONS && DATALINE_CPP_STD_SPAN
#define DATALINE_CPP_ABI v0_throw_std_span
#elif DATALINE_CPP_EXCEPTIONS
#define DATALINE_CPP_ABI v0_throw
#elif DATALINE_CPP_STD_SPAN
#define DATALINE_CPP_ABI v0_std_span
#else
#define DATALINE_CPP_ABI v0
#endif

// Errors are created out of line to keep the fast paths short.
#if defined(__GNUC__)
#define DATALINE_CPP_COLD __attribute__((cold, noinline))
#else
#define DATALINE_CPP_COLD
#endif

// Whether the ABI of the loaded library matches this header.
namespace dataline {
inline namespace DATALINE_CPP_ABI {
inline bool abi_matches() noexcept { return dl_abi_version() == DL_ABI_VERSION; }
}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
#endif  // C++17
