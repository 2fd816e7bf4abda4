// A dl_storage as core's HostStorage, and dl_threads as its ThreadHooks.
// SPDX-License-Identifier: Apache-2.0
#include "capi/extensions.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_struct.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

class CallbackStorage;

// An open object. It holds the storage, and the token that its reads look at.
class CallbackObject final : public StoredObject {
 public:
  CallbackObject(std::shared_ptr<const CallbackStorage> storage, const dl_storage_object& opened,
                 CancelTokenRef cancel)
      : storage_(std::move(storage)),
        object_(opened.object),
        bytes_(opened.bytes),
        fingerprint_(text_or_empty(opened.fingerprint)),
        cancel_(std::move(cancel)) {}
  ~CallbackObject() override;
  int64_t bytes() const override { return bytes_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  Status read(int64_t offset, int64_t bytes, std::byte* out, const CancelFlag* cancelled) const override;

 private:
  std::shared_ptr<const CallbackStorage> storage_;
  void* object_;
  int64_t bytes_;
  std::string fingerprint_;
  CancelTokenRef cancel_;
};

const int32_t* word_of_token(const CancelTokenRef& cancel) {
  return word_of(cancel == nullptr ? kNeverCancelled : cancel->flag());
}

class CallbackStorage final : public HostStorage, public std::enable_shared_from_this<CallbackStorage> {
 public:
  explicit CallbackStorage(const dl_storage& given)
      : table(given),
        context(given.context, given.destroy),
        scheme_(given.scheme),
        doc_(text_or_empty(given.doc)) {}

  std::string_view scheme() const override { return scheme_; }
  std::string_view doc() const override { return doc_; }
  Result<std::unique_ptr<const StoredObject>> open(const std::string& path,
                                                   const OpenContext& open_context) const override {
    const dl_options options = {open_context.options == nullptr ? Options() : *open_context.options, {}};
    dl_storage_object object = {};
    object.struct_size = sizeof object;
    object.path = path.c_str();
    object.cancelled = word_of_token(open_context.cancel);
    object.options = &options;
    CallbackError failure;
    const dl_status code = table.open(context.get(), &object, failure.get());
    if (code != DL_OK)
      return failure.status(code, concat("storage '", scheme_, "': open"), open_context.cancelled());
    return std::unique_ptr<const StoredObject>(
        std::make_unique<CallbackObject>(shared_from_this(), object, open_context.cancel));
  }

  const dl_storage table;
  HostContext context;

 private:
  const std::string scheme_, doc_;
};

CallbackObject::~CallbackObject() {
  if (storage_->table.close != nullptr) storage_->table.close(storage_->context.get(), object_);
}

Status CallbackObject::read(int64_t offset, int64_t bytes, std::byte* out,
                            const CancelFlag* cancelled) const {
  dl_storage_read request = {};
  request.struct_size = sizeof request;
  request.object = object_;
  request.offset = offset;
  request.bytes = bytes;
  request.out = out;
  request.cancelled = cancelled != nullptr ? word_of(*cancelled) : word_of_token(cancel_);
  CallbackError failure;
  const dl_status code = storage_->table.read(storage_->context.get(), &request, failure.get());
  if (code == DL_OK) return Status::ok();
  const bool unwanted = cancelled != nullptr ? cancelled->load(std::memory_order_relaxed) != 0
                                             : cancel_ != nullptr && cancel_->cancelled();
  return failure.status(code, concat("storage '", storage_->scheme(), "': read"), unwanted);
}

class CallbackThreads final : public ThreadHooks {
 public:
  explicit CallbackThreads(const dl_threads& given) : table_(given), context(given.context, given.destroy) {}

  void on_start(int32_t worker, const char* name) const noexcept override {
    if (table_.start != nullptr) table_.start(context.get(), worker, name);
  }
  void on_end(int32_t worker) const noexcept override {
    if (table_.end != nullptr) table_.end(context.get(), worker);
  }
  bool runs() const noexcept override { return table_.run != nullptr; }
  int32_t run(int32_t worker, const char* name, void (*main)(void*), void* argument) const noexcept override {
    return table_.run(context.get(), worker, name, main, argument);
  }

 private:
  const dl_threads table_;

 public:
  HostContext context;
};

}  // namespace

namespace dataline::capi {

Result<Made<const HostStorage>> make_storage(const dl_storage& table) {
  DL_RETURN_IF_ERROR(check_reserved<dl_storage>("reserved", table.reserved == 0));
  DL_RETURN_IF_ERROR(check_name("dl_storage.scheme", table.scheme, 2, "+"));
  if (table.open == nullptr) return null_argument("dl_storage.open");
  if (table.read == nullptr) return null_argument("dl_storage.read");
  return Made<const HostStorage>(std::make_shared<CallbackStorage>(table));
}

Result<Made<const ThreadHooks>> make_threads(const dl_threads& table) {
  DL_RETURN_IF_ERROR(check_reserved<dl_threads>("reserved", table.reserved == 0));
  return Made<const ThreadHooks>(std::make_shared<CallbackThreads>(table));
}

}  // namespace dataline::capi
