// The tables of transforms, formats and storages: those of the library, then those of the host.
// SPDX-License-Identifier: Apache-2.0
#include "capi/extensions.h"
#include "capi/guard.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

// An element of the library's table, or of the host's after it; null out of range.
const OperatorInfo* operator_at(const dl_extensions* extensions, int32_t index) {
  const auto ours = operator_table();
  const auto at = static_cast<size_t>(index);
  if (at < ours.size()) return ours[at];
  return &extensions->core.operators[at - ours.size()]->table_row().info;
}

const Format& format_at(const dl_extensions* extensions, int32_t index) {
  const auto at = static_cast<size_t>(index);
  if (at < formats().size()) return *formats()[at];
  return extensions->core.formats[at - formats().size()]->format();
}

const char* c_text(std::string_view text) { return text.empty() ? "" : text.data(); }

}  // namespace

extern "C" {

int32_t dl_transform_count(const dl_extensions* extensions) {
  const size_t added = extensions == nullptr ? 0 : extensions->core.operators.size();
  return static_cast<int32_t>(operator_table().size() + added);
}

dl_status dl_transform_at(const dl_extensions* extensions, int32_t index, dl_transform_info* out,
                          dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("transform", index, dl_transform_count(extensions)));
    const OperatorInfo& entry = *operator_at(extensions, index);
    dl_transform_info info = {};
    info.argument_count = static_cast<int32_t>(entry.arguments.size());
    info.name = c_text(entry.name);
    info.doc = c_text(entry.doc);
    info.source = c_text(entry.source);
    info.since = c_text(entry.since);
    return copy_struct(info, out);
  });
}

dl_status dl_transform_argument_at(const dl_extensions* extensions, int32_t index, int32_t argument,
                                   dl_argument_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("transform", index, dl_transform_count(extensions)));
    const OperatorInfo& entry = *operator_at(extensions, index);
    DL_RETURN_IF_ERROR(check_index("argument", argument, static_cast<int64_t>(entry.arguments.size())));
    const OperatorArgument& found = entry.arguments[static_cast<size_t>(argument)];
    dl_argument_info info = {};
    info.name = c_text(found.name);
    info.type = c_text(found.type);
    info.default_value = c_text(found.default_value);
    return copy_struct(info, out);
  });
}

int32_t dl_format_count(const dl_extensions* extensions) {
  const size_t added = extensions == nullptr ? 0 : extensions->core.formats.size();
  return static_cast<int32_t>(formats().size() + added);
}

dl_status dl_format_at(const dl_extensions* extensions, int32_t index, dl_format_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("format", index, dl_format_count(extensions)));
    const Format& entry = format_at(extensions, index);
    dl_format_info info = {};
    info.key_count = static_cast<int32_t>(entry.keys.size());
    info.name = c_text(entry.name);
    info.doc = c_text(entry.doc);
    return copy_struct(info, out);
  });
}

dl_status dl_format_key_at(const dl_extensions* extensions, int32_t index, int32_t key, dl_format_key* out,
                           dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("format", index, dl_format_count(extensions)));
    const Format& entry = format_at(extensions, index);
    DL_RETURN_IF_ERROR(check_index("key", key, static_cast<int64_t>(entry.keys.size())));
    const KeySpec& found = entry.keys[static_cast<size_t>(key)];
    dl_format_key info = {};
    info.name = c_text(found.name);
    info.values = c_text(found.values);
    info.default_value = found.fallback.empty() ? nullptr : found.fallback.data();
    info.doc = c_text(found.doc);
    return copy_struct(info, out);
  });
}

int32_t dl_storage_count(const dl_extensions* extensions) {
  return extensions == nullptr ? 0 : static_cast<int32_t>(extensions->core.storages.size());
}

dl_status dl_storage_at(const dl_extensions* extensions, int32_t index, dl_storage* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("storage", index, dl_storage_count(extensions)));
    const HostStorage& entry = *extensions->core.storages[static_cast<size_t>(index)];
    dl_storage info = {};
    info.scheme = c_text(entry.scheme());
    info.doc = c_text(entry.doc());
    return copy_struct(info, out);
  });
}

}  // extern "C"
