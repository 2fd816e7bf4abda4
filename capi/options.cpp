// Options and their tables, transforms, cancel tokens.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_struct.h"
#include "core/loader/option_table.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

// Calls `destroy` when the last copy of a table is gone.
std::shared_ptr<const void> keep_context(void* context, void (*destroy)(void*)) {
  if (destroy == nullptr) return nullptr;
  auto loan = std::make_shared<HostLoan>();
  loan->take({context, destroy});
  return loan;
}

}  // namespace

extern "C" {

dl_status dl_options_create(dl_options** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    *out = new dl_options();
    return Status::ok();
  });
}

void dl_options_destroy(dl_options* options) { delete options; }

dl_status dl_options_copy(const dl_options* options, dl_options** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(out);
    *out = nullptr;
    *out = new dl_options{options->core, {}};
    return Status::ok();
  });
}

dl_status dl_options_set(dl_options* options, const char* key, const char* value, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(key);
    DL_REQUIRE(value);
    return options->core.set(key, value);
  });
}

dl_status dl_options_set_i64(dl_options* options, const char* key, int64_t value, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(key);
    return options->core.set_i64(key, value);
  });
}

dl_status dl_options_set_indices(dl_options* options, const int64_t* indices, int64_t count,
                                 void (*release)(void*), void* context, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_RETURN_IF_ERROR(check_array(indices, count, "indices"));
    options->core.indices = hold_array(indices, count, {context, release});
    return Status::ok();
  });
}

dl_status dl_options_set_weights(dl_options* options, const double* weights, int64_t count,
                                 void (*release)(void*), void* context, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_RETURN_IF_ERROR(check_array(weights, count, "weights"));
    options->core.weights = hold_array(weights, count, {context, release});
    return Status::ok();
  });
}

dl_status dl_options_set_lengths(dl_options* options, const int64_t* lengths, int64_t count,
                                 void (*release)(void*), void* context, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_RETURN_IF_ERROR(check_array(lengths, count, "lengths"));
    options->core.lengths = hold_array(lengths, count, {context, release});
    return Status::ok();
  });
}

dl_status dl_options_set_allocator(dl_options* options, const dl_allocator* allocator, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(allocator);
    DL_ASSIGN_OR_RETURN(const dl_allocator table, read_struct(*allocator));
    DL_RETURN_IF_ERROR(check_reserved<dl_allocator>("reserved", table.reserved == 0));
    if (table.allocate == nullptr) return null_argument("dl_allocator.allocate");
    if (table.release == nullptr) return null_argument("dl_allocator.release");
    options->core.allocator = {table.context, table.allocate, table.release,
                               keep_context(table.context, table.destroy)};
    return Status::ok();
  });
}

dl_status dl_options_set_log(dl_options* options, const dl_log* log, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(log);
    DL_ASSIGN_OR_RETURN(const dl_log table, read_struct(*log));
    DL_RETURN_IF_ERROR(check_reserved<dl_log>("reserved", table.reserved == 0));
    if (table.write == nullptr) return null_argument("dl_log.write");
    options->core.log = {table.context, table.write, keep_context(table.context, table.destroy)};
    return Status::ok();
  });
}

dl_status dl_options_set_cancel_token(dl_options* options, dl_cancel_token* token, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(token);
    options->core.cancel = token->core;
    return Status::ok();
  });
}

dl_status dl_options_set_environment(dl_options* options, const char* const* environment, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(environment);
    options->core.environment = LauncherVariables(environment);
    return Status::ok();
  });
}

dl_status dl_launcher_detect(const char* const* environment, dl_launcher* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(environment);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(const Launcher from, detect_launcher(LauncherVariables(environment)));
    dl_launcher launcher = {};
    launcher.family = from.family;
    launcher.rank = from.rank;
    launcher.world_size = from.world_size;
    launcher.local_rank = from.local_rank;
    launcher.local_world_size = from.local_world_size;
    return copy_struct(launcher, out);
  });
}

dl_status dl_options_get(const dl_options* options, const char* key, const char** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(options);
    DL_REQUIRE(key);
    DL_REQUIRE(out);
    *out = nullptr;
    DL_ASSIGN_OR_RETURN(Option option, Options::find(key));
    options->text = options->core.as_text(option);
    *out = options->text.c_str();
    return Status::ok();
  });
}

int32_t dl_option_count(void) { return static_cast<int32_t>(option_table().size()); }

dl_status dl_option_at(int32_t index, dl_option_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("option", index, dl_option_count()));
    const OptionInfo& entry = option_table()[static_cast<size_t>(index)];
    const bool has_range = entry.minimum <= entry.maximum;
    dl_option_info info = {};
    info.type = static_cast<int32_t>(entry.type);
    info.scope = entry.scope;
    info.has_range = has_range ? 1 : 0;
    info.minimum = has_range ? entry.minimum : 0;
    info.maximum = has_range ? entry.maximum : 0;
    info.key = entry.key;
    info.default_value = entry.default_value;
    info.choices = entry.choices;
    info.unit = entry.unit;
    info.doc = entry.doc;
    info.since = kOptionsSince;
    return copy_struct(info, out);
  });
}

dl_status dl_cancel_token_create(dl_cancel_token** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    *out = new dl_cancel_token{std::make_shared<CancelToken>()};
    return Status::ok();
  });
}

void dl_cancel_token_cancel(dl_cancel_token* token) {
  if (token != nullptr) token->core->cancel();
}

void dl_cancel_token_destroy(dl_cancel_token* token) { delete token; }

}  // extern "C"
