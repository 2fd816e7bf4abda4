// The cpu as a target: slots are lent where they were filled. With pin_memory they are page-locked through the first
// CUDA device, for consumers that copy themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/device/device.h"

namespace dataline {

std::shared_ptr<Device> make_cpu_device(const DeviceRequest& request);

}  // namespace dataline
