// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/base/text.h"
#include "core/device/cpu_device.h"
#include "core/device/cuda_device.h"

namespace dataline {

Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request) {
  const std::string_view name = request.name;
  if (name == "cpu") return make_cpu_device(request);
  if (name == "cuda") return CudaDevice::open(request, 0);
  constexpr std::string_view kPrefix = "cuda:";
  if (name.starts_with(kPrefix)) {
    const std::optional<int64_t> ordinal = parse_i64(name.substr(kPrefix.size()));
    if (ordinal.has_value() && *ordinal >= 0 && *ordinal <= INT32_MAX)
      return CudaDevice::open(request, static_cast<int32_t>(*ordinal));
  }
  return error(Code::kBadOption, "option device: expected cpu, cuda or cuda:N, got '", name, "'");
}

}  // namespace dataline
