// What the host adds to formats, operators, storages and threads. Immutable once it is set in options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/base/thread.h"
#include "core/memory/host_storage.h"
#include "core/memory/shared_library.h"
#include "core/source/format.h"
#include "core/transform/operators/host_operator.h"

namespace dataline {

struct Extensions {
  std::vector<std::shared_ptr<const HostFormat>> formats;
  std::vector<std::shared_ptr<const HostOperator>> operators;
  std::vector<HostStorageRef> storages;
  std::shared_ptr<const ThreadHooks> threads;  // may be null
};

}  // namespace dataline
