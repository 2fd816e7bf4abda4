// The workers' threads: told when they start and end, or lent by the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/extensions.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// All may be empty. Those of start and end must not throw.
struct Threads {
  // On each worker, first and last (to name, pin or register it). `worker` counts from 0.
  std::function<void(int32_t worker, const char* name)> start;
  std::function<void(int32_t worker)> end;
  // Empty: the library starts threads. Else called when a loader is made: arranges that `work` is called once, soon, on a
  // thread of the host's that may be used until it returns, which is when the loader is destroyed. Returns 0, or an error
  // number (DL_ERR_THREAD). Signals are the host's business then.
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
