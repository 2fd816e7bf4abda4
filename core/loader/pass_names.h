// What the passes of a pipeline are called in a loader's metrics: by the field they make and the operators they run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/loader/metrics/metrics.h"
#include "core/loader/pipeline.h"

namespace dataline {

std::vector<Metrics::Pass> name_passes(const Pipeline& pipeline);

}  // namespace dataline
