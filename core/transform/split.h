// What a pass is to a device: the Tail of an ImagePass or a FlatPass, where it has one. A tail's elements go through
// at most one cast to f32, affine maps, and one cast to the delivered type; more stays on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/base/tail.h"
#include "core/transform/element_chain.h"
#include "core/transform/flat_pass.h"
#include "core/transform/image_pass.h"

namespace dataline {

std::optional<Tail> image_tail(const ImagePlan& plan, DType input, const std::vector<ElementStep>& steps);
// `input`: the field before the pass, which keeps its order and pads nothing.
std::optional<Tail> flat_tail(const Field& input, const Channels& channels,
                              const std::vector<ElementStep>& steps);

}  // namespace dataline
