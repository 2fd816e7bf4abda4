// The worker threads: callbacks when they start and end, or threads that the host lends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/extensions.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// All members may be empty. start and end must not throw.
struct Threads {
  // Called on each worker, first and last (to name, pin or register the thread). `worker` counts from 0.
  std::function<void(int32_t worker, const char* name)> start;
  std::function<void(int32_t worker)> end;
  // Empty: the library starts threads. Otherwise called when a loader is created. It must arrange for `work` to be
  // called once, soon, on a host thread. `work` uses the thread until the loader is destroyed, then returns.
  // Returns 0, or an error number (DL_ERR_THREAD). The host then handles signals.
  std::function<int32_t(int32_t worker, const char* name, std::function<void()> work)> run;
};

namespace detail {

inline int32_t run_for(void* context, int32_t worker, const char* name, void (*work)(void*),
                       void* argument) noexcept {
  int32_t refused = 0;
  const dl_status status = guarded(nullptr, [&]() -> dl_status {
    refused = static_cast<const Threads*>(context)->run(worker, name, [work, argument] { work(argument); });
    return DL_OK;
  });
  return status == DL_OK ? refused : -1;
}

}  // namespace detail

inline Result<void> Extensions::try_set_threads(Threads threads) {
  auto context = std::make_unique<Threads>(std::move(threads));
  dl_threads table = {};
  table.struct_size = sizeof table;
  table.context = context.get();
  if (context->start) {
    table.start = [](void* to, int32_t worker, const char* name) noexcept {
      static_cast<const Threads*>(to)->start(worker, name);
    };
  }
  if (context->end) {
    table.end = [](void* to, int32_t worker) noexcept { static_cast<const Threads*>(to)->end(worker); };
  }
  if (context->run) table.run = &detail::run_for;
  table.destroy = &detail::delete_context<Threads>;
  return detail::give(std::move(context), [&](dl_error* error) {
    return dl_extensions_set_threads(extensions_.get(), &table, error);
  });
}
inline Extensions& Extensions::set_threads(Threads threads) {
  return try_set_threads(std::move(threads)).value(), *this;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
