// What the host adds to formats, operators, storages and threads. Immutable once it is set in options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread.h"
#include "core/memory/host_storage.h"
#include "core/memory/shared_library.h"
#include "core/source/format.h"
#include "core/source/plugin_formats.h"
#include "core/transform/operators/host_operator.h"

namespace dataline {

struct Extensions {
  std::vector<std::shared_ptr<const HostFormat>> formats;
  std::vector<std::shared_ptr<const HostOperator>> operators;
  std::vector<HostStorageRef> storages;
  std::shared_ptr<const ThreadHooks> threads;  // may be null
};

// A plug-in that was not loaded: if this project has it, and it was not found, then with the script that builds it.
inline Status with_build_advice(const std::string& path, const Status& status) {
  const PluginFormat* const format =
      plugin_format_of_library(std::string_view(path).substr(path.find_last_of('/') + 1));
  if (status.code() != Code::kNotFound || format == nullptr) return status;
  return error(status.code(), status.message(), "; ", format->build, " builds it (guide: ", format->guide,
               ")");
}

}  // namespace dataline
