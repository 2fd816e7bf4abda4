// What the host adds: its tables as the interfaces that core knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "capi/dataline.h"
#include "core/base/status.h"
#include "core/loader/extensions.h"
#include "core/loader/options.h"

struct dl_extensions {
  dataline::Extensions core;
};

namespace dataline::capi {

// A callback's error as a Status. The message is one line: what the host wrote, or that it wrote nothing.
class CallbackError {
 public:
  CallbackError();
  dl_error* get() { return &error_; }
  // `what` names the function, as in "dl_storage 'x': read". DL_CANCELLED passes only from a call that was cancelled. An error
  // code of the library passes with the host's message; any other code, of soft results too, becomes kReader and is named.
  Status status(dl_status code, std::string_view what, bool cancelled = false) const;

 private:
  dl_error error_;
};

// Calls destroy(context) when it goes, once it was told to: a table that is refused stays the host's.
class HostContext {
 public:
  HostContext(void* context, void (*destroy)(void*)) : context_(context), destroy_(destroy) {}
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;
  ~HostContext() {
    if (owned_ && destroy_ != nullptr) destroy_(context_);
  }
  void own() noexcept { owned_ = true; }
  void* get() const { return context_; }

 private:
  void* context_;
  void (*destroy_)(void*);
  bool owned_ = false;
};

// A name of `min_bytes` to 32 characters a-z 0-9 _ and those of `also`, with a letter first.
Status check_name(const char* what, const char* name, size_t min_bytes = 2, std::string_view also = {});
inline std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

// The tables as core sees them. They own the table's context once added.
template <typename T>
struct Made {
  template <typename Callbacks>
  explicit Made(std::shared_ptr<Callbacks> table) : context(&table->context), made(std::move(table)) {}
  HostContext* context;  // of `made`
  std::shared_ptr<T> made;
};
Result<Made<const HostFormat>> make_format(const dl_format& format);
Result<Made<const HostOperator>> make_operator(const dl_operator& table);
Result<Made<const HostStorage>> make_storage(const dl_storage& storage);
Result<Made<const ThreadHooks>> make_threads(const dl_threads& threads);

}  // namespace dataline::capi
