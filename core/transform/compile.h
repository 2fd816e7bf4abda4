// compile_transforms() and split_transforms() for a chosen vector target: how tests and benchmarks run every target of a machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/simd.h"
#include "core/transform/transform.h"

namespace dataline {

Result<std::vector<std::unique_ptr<const Program>>> compile_transforms_for(
    SimdTarget target, std::string_view text, std::span<const Field> fields,
    const TransformSettings& settings = {});

Result<std::vector<std::optional<DeviceSplit>>> split_transforms_for(SimdTarget target, std::string_view text,
                                                                     std::span<const Field> fields,
                                                                     const TransformSettings& settings = {});

}  // namespace dataline
