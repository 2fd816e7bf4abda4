// Extensions: the object, formats and what plug-ins and callbacks call.
// SPDX-License-Identifier: Apache-2.0
#include "capi/extensions.h"

#include <algorithm>
#include <utility>

#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_struct.h"
#include "core/base/code_text.h"
#include "core/base/text.h"

using namespace dataline;
using namespace dataline::capi;

namespace dataline::capi {
namespace {

const char* soft_name(dl_status code) {
  switch (code) {
    case DL_END_OF_EPOCH:
      return "DL_END_OF_EPOCH";
    case DL_END:
      return "DL_END";
    case DL_TIMEOUT:
      return "DL_TIMEOUT";
    case DL_CANCELLED:
      return "DL_CANCELLED";
    case DL_INTERRUPTED:
      return "DL_INTERRUPTED";
    default:
      return "an unknown code";
  }
}

}  // namespace

CallbackError::CallbackError() { dl_error_init(&error_, sizeof error_); }

Status CallbackError::status(dl_status code, std::string_view what, bool cancelled) const {
  if (code == DL_OK) return Status::ok();
  const bool known = (code == DL_CANCELLED && cancelled) ||
                     (code < 0 && code_name(static_cast<Code>(code)) != "DL_ERR_UNKNOWN");
  std::string text(without_cut_character({error_.message, strnlen(error_.message, sizeof error_.message)}));
  if (code > 0 && !known) {
    text = concat(what, " returned ", soft_name(code), " (", code, ")",
                  code == DL_CANCELLED ? ", but nothing was cancelled" : ", expected DL_OK or an error",
                  text.empty() ? "" : ": ", text);
  } else if (text.empty() || !known) {
    text = concat(what, " failed with ", code_text(code), text.empty() ? "" : ": ", text);
  }
  return Status(known ? static_cast<Code>(code) : Code::kReader, std::move(text))
      .with_os_error(error_.os_error);
}

Status check_name(const char* what, const char* name, size_t min_bytes, std::string_view also) {
  if (name == nullptr) return null_argument(what);
  const std::string_view text = name;
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  };
  const bool good = text.size() >= min_bytes && text.size() <= 32 && text[0] >= 'a' && text[0] <= 'z' &&
                    std::all_of(text.begin(), text.end(), fits);
  if (good) return Status::ok();
  return error(Code::kInvalidArgument, what, ": expected ", min_bytes, " to 32 of a-z 0-9 _",
               also.empty() ? "" : " ", also, ", a letter first, got '", text, "'");
}

}  // namespace dataline::capi

namespace {

// Makes what core knows of the host's table, and has `keep` put it into the extensions. The context is owned once nothing can
// fail any more.
template <typename Table, typename T, typename Keep>
dl_status add(dl_extensions* extensions, const char* argument, const Table* table,
              Result<Made<T>> (*make)(const Table&), dl_error* error, Keep keep) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(extensions);
    if (table == nullptr) return null_argument(argument);
    DL_ASSIGN_OR_RETURN(const Table given, read_struct(*table));
    DL_ASSIGN_OR_RETURN(Made<T> made, make(given));
    DL_RETURN_IF_ERROR(keep(extensions->core, std::move(made.made)));
    made.context->own();
    return Status::ok();
  });
}

Status refuse_taken(const char* what, std::string_view name, bool taken) {
  if (!taken) return Status::ok();
  return error(Code::kInvalidArgument, what, ": '", name, "' already exists");
}

}  // namespace

extern "C" {

dl_status dl_extensions_create(dl_extensions** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    *out = new dl_extensions();
    return Status::ok();
  });
}

void dl_extensions_destroy(dl_extensions* extensions) { delete extensions; }

dl_status dl_options_set_extensions(dl_options* options, const dl_extensions* extensions, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    options->core.extensions =
        extensions == nullptr ? nullptr : std::make_shared<const Extensions>(extensions->core);
    return Status::ok();
  });
}

dl_status dl_error_set(dl_error* error, dl_status code, const char* message) {
  fill_error(code, 0, 0, -1, 0, message == nullptr ? "" : message, error);
  return code;
}

dl_status dl_extensions_add_format(dl_extensions* extensions, const dl_format* format, dl_error* error) {
  return add(extensions, "format", format, make_format, error, [](Extensions& all, auto made) {
    const std::string_view name = made->format().name;
    const bool taken =
        find_format(name) != nullptr || std::any_of(all.formats.begin(), all.formats.end(),
                                                    [&](const auto& f) { return f->format().name == name; });
    DL_RETURN_IF_ERROR(refuse_taken("dl_format.name", name, taken));
    all.formats.push_back(std::move(made));
    return Status::ok();
  });
}

dl_status dl_extensions_add_operator(dl_extensions* extensions, const dl_operator* table, dl_error* error) {
  return add(extensions, "table", table, make_operator, error, [](Extensions& all, auto made) {
    const std::string_view name = made->table_row().info.name;
    const auto ours = operator_table();
    const bool taken =
        std::any_of(ours.begin(), ours.end(), [&](const OperatorInfo* row) { return row->name == name; }) ||
        std::any_of(all.operators.begin(), all.operators.end(),
                    [&](const auto& o) { return o->table_row().info.name == name; });
    DL_RETURN_IF_ERROR(refuse_taken("dl_operator.name", name, taken));
    all.operators.push_back(std::move(made));
    return Status::ok();
  });
}

dl_status dl_extensions_add_storage(dl_extensions* extensions, const dl_storage* storage, dl_error* error) {
  return add(extensions, "storage", storage, make_storage, error, [](Extensions& all, auto made) {
    const std::string_view scheme = made->scheme();
    const bool taken = scheme == "file" || std::any_of(all.storages.begin(), all.storages.end(),
                                                       [&](const auto& s) { return s->scheme() == scheme; });
    DL_RETURN_IF_ERROR(refuse_taken("dl_storage.scheme", scheme, taken));
    all.storages.push_back(std::move(made));
    return Status::ok();
  });
}

dl_status dl_extensions_set_threads(dl_extensions* extensions, const dl_threads* threads, dl_error* error) {
  return add(extensions, "threads", threads, make_threads, error, [](Extensions& all, auto made) {
    all.threads = std::move(made);
    return Status::ok();
  });
}

}  // extern "C"
