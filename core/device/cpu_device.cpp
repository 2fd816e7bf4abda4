// SPDX-License-Identifier: Apache-2.0
#include "core/device/device.h"

namespace dataline {
namespace {

class CpuDevice final : public Device {
 public:
  int32_t type() const override { return 1; }
  int32_t index() const override { return 0; }
  Status wait(void* stream) const override {
    static_cast<void>(stream);  // a batch is lent only when its bytes are in place
    return Status::ok();
  }
};

}  // namespace

Result<std::shared_ptr<const Device>> open_device(std::string_view name) {
  if (name == "cpu") return std::shared_ptr<const Device>(std::make_shared<CpuDevice>());
  if (name.starts_with("cuda")) {
    return error(Code::kUnsupported, "option device: '", name,
                 "' comes with the accelerator path; this release has cpu");
  }
  return error(Code::kBadOption, "option device: expected cpu or cuda:N, got '", name, "'");
}

}  // namespace dataline
