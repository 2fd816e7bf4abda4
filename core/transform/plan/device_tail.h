// The Tail of a pass, if a device can run it: an ImagePass or FlatPass whose elements need at most a cast to f32, affine
// maps, and a cast to the delivered type. Other passes stay on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/base/tail.h"
#include "core/transform/elements/element_chain.h"
#include "core/transform/passes/flat_pass.h"
#include "core/transform/passes/image_pass.h"

namespace dataline {

std::optional<Tail> image_tail(const ImagePlan& plan, DType input, const std::vector<ElementStep>& steps);
// `input`: the field before the pass, which keeps the elements' order and does not pad.
std::optional<Tail> flat_tail(const Field& input, const Channels& channels,
                              const std::vector<ElementStep>& steps);

}  // namespace dataline
