/* Plug-ins that are none: WHICH says what is wrong. SPDX-License-Identifier: Apache-2.0 */
#include "capi/dataline.h"

#if WHICH == 1 /* of another ABI, after it has added something */
static dl_status never(void* context, const dl_format_request* request, dl_dataset** out, dl_error* error) {
  (void)context, (void)request, (void)out, (void)error;
  return DL_ERR_INTERNAL;
}

DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  dl_status (*add)(dl_extensions*, const dl_format*, dl_error*) =
      (void*)plugin->find("dl_extensions_add_format");
  dl_format format = {0};
  format.struct_size = sizeof format;
  format.name = "leftover";
  format.open = never;
  plugin->built_for = DL_ABI_VERSION + 7;
  return add(plugin->extensions, &format, error);
}
#else /* without the entry point */
DL_API int32_t not_a_plugin(void);
int32_t not_a_plugin(void) { return 0; }
#endif
