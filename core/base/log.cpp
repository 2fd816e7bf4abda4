// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <string>

#include "core/base/message_text.h"

namespace dataline {

void Log::operator()(LogLevel level, std::string_view message) const {
  if (write == nullptr) return;
  const std::string text = message_text(message);
  write(context, static_cast<int32_t>(level), text.data(), text.size());
}

}  // namespace dataline
