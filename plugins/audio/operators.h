// The operators as tables of dataline.h. Each is a class Use: prepare() reads the arguments of a use and says what comes out,
// apply() makes a row; its objects are shared by all threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <new>

#include "library.h"

namespace dataline_audio {

dl_status add_decode_audio(dl_extensions* extensions, dl_error* error);
dl_status add_resample(dl_extensions* extensions, dl_error* error);
dl_status add_crop(dl_extensions* extensions, dl_error* error);
dl_status add_mel(dl_extensions* extensions, dl_error* error);

template <typename Call>
dl_status guarded(dl_error* error, Call call) noexcept {
  try {
    const Failure failed = call();
    return failed ? library.error_set(error, failed.code, failed.text.c_str()) : DL_OK;
  } catch (const std::bad_alloc&) {
    return library.error_set(error, DL_ERR_NO_MEMORY, "out of memory");
  } catch (const std::exception& thrown) {
    return library.error_set(error, DL_ERR_READER, thrown.what());
  } catch (...) {
    return library.error_set(error, DL_ERR_READER, "an unknown exception");
  }
}

template <typename Use>
dl_status prepare(void*, dl_operator_use* use, dl_error* error) {
  return guarded(error, [&]() -> Failure {
    auto made = std::make_unique<Use>();
    if (Failure failed = made->prepare(*use)) return failed;
    use->state = made.release();
    return {};
  });
}

template <typename Use>
dl_status apply(void*, dl_operator_row* row, dl_error* error) {
  return guarded(error, [&] { return static_cast<Use*>(row->state)->apply(*row); });
}

template <typename Use>
void forget(void*, void* state) {
  delete static_cast<Use*>(state);
}

constexpr dl_argument_info argument(const char* name, const char* type, const char* default_value) {
  return {sizeof(dl_argument_info), 0, name, type, default_value};
}

template <typename Use, size_t kCount>
dl_status add_operator(dl_extensions* extensions, const char* name, const char* doc, const char* source,
                       const dl_argument_info (&arguments)[kCount], dl_error* error) {
  dl_operator table = {};
  table.struct_size = sizeof table;
  table.argument_count = static_cast<int32_t>(kCount);
  table.name = name;
  table.doc = doc;
  table.source = source;
  table.arguments = arguments;
  table.prepare = prepare<Use>;
  table.apply = apply<Use>;
  table.forget = forget<Use>;
  return library.add_operator(extensions, &table, error);
}

}  // namespace dataline_audio
