// Where tests find files that lie somewhere else on every machine. One source file knows: the commands that compile the tests
// hold no absolute path of their own, so that a compiler cache serves every checkout.
// SPDX-License-Identifier: Apache-2.0
#ifndef DATALINE_TESTS_SUPPORT_PLACES_H
#define DATALINE_TESTS_SUPPORT_PLACES_H

#include <string>

namespace dataline::tests {

std::string in_repository(const std::string& path);   // "tests/order/golden_order.json"
std::string in_build(const std::string& path);        // of this preset: "lib/libfake_old_cuda.so"
std::string in_shared_data(const std::string& path);  // real data, which may be absent: "mnist"

}  // namespace dataline::tests

#endif
