// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/frame.h"

namespace dataline {

Status FrameScratch::too_large(int64_t height, int64_t width, int64_t bytes) const {
  return error(Code::kTooLarge, "image of ", height, "x", width, " needs ", bytes,
               " bytes more, max_decoded_bytes is ", bytes_, ", of which ", bytes_ - used_, " are left");
}

}  // namespace dataline
