// libdataline-audio.so: what dl_extensions_load calls.
// SPDX-License-Identifier: Apache-2.0
#include "library.h"
#include "operators.h"

namespace dataline_audio {

Library library;

}  // namespace dataline_audio

extern "C" dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  using namespace dataline_audio;
  plugin->built_for = DL_ABI_VERSION;
  if (plugin->abi_version != DL_ABI_VERSION) return DL_OK;  // the library says that it does not fit
  const bool found = find(*plugin, "dl_error_set", library.error_set) &&
                     find(*plugin, "dl_dtype_name", library.dtype_name) &&
                     find(*plugin, "dl_operator_random", library.operator_random) &&
                     find(*plugin, "dl_extensions_add_operator", library.add_operator);
  if (!found) return DL_ERR_UNSUPPORTED;
  for (const auto add : {add_decode_audio, add_resample, add_crop, add_mel}) {
    if (const dl_status status = add(plugin->extensions, error); status != DL_OK) return status;
  }
  return DL_OK;
}
