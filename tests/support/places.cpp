// SPDX-License-Identifier: Apache-2.0
#include "tests/support/places.h"

namespace dataline::tests {

std::string in_repository(const std::string& path) { return std::string(REPOSITORY) + "/" + path; }
std::string in_build(const std::string& path) { return std::string(BUILD) + "/" + path; }
std::string in_shared_data(const std::string& path) { return std::string(DATALINE_SHARED_DATA) + "/" + path; }

}  // namespace dataline::tests
