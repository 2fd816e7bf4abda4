// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/format_decoder.h"

namespace dataline {
std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions&) { return nullptr; }
}  // namespace dataline
