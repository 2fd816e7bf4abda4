// Included by tests that may run on a real driver: one that failed before it needed the fake has failed, and is not skipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/support/fake_cuda/fake_cuda.h"

namespace dataline {

inline const bool kFailuresAreTold =
    (fake_cuda_ask_whether_failed([] { return ::testing::Test::HasFailure(); }), true);

}  // namespace dataline
