// What two sets must have in common to be the same data, whatever their files are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "core/base/digest.h"
#include "core/source/identity.h"
#include "core/source/source.h"

namespace dataline {

inline uint64_t data_digest(const Source& source) {
  const Result<ContentIdentity> identity = content_identity(source);
  EXPECT_TRUE(identity.is_ok()) << identity.status().message();
  if (!identity.is_ok()) return 0;
  Digest digest;
  for (const std::string* line :
       {&identity.value().structure, &identity.value().sizes, &identity.value().contents})
    digest.add(*line);
  return digest.value();
}

}  // namespace dataline
