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
#elif WHICH == 3 /* whose callbacks end calls that nobody asked to end */
static dl_status (*from_reader)(const dl_reader*, const dl_options*, dl_dataset**, dl_error*);

static dl_status cancels(void* context, const dl_format_request* request, dl_dataset** out, dl_error* error) {
  (void)context, (void)request, (void)out, (void)error;
  return DL_CANCELLED;
}

static int32_t interrupted(void* context, dl_reader_request* request) {
  (void)context, (void)request;
  return DL_READER_INTERRUPTED;
}

static dl_status interrupts(void* context, const dl_format_request* request, dl_dataset** out,
                            dl_error* error) {
  (void)context;
  dl_view field = {0};
  field.struct_size = sizeof field;
  field.name = "x";
  field.dtype = DL_DTYPE_U8;
  dl_reader reader = {0};
  reader.struct_size = sizeof reader;
  reader.fields = &field;
  reader.field_count = 1;
  reader.record_count = 10;
  reader.read = interrupted;
  return from_reader(&reader, request->options, out, error);
}

DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  dl_status (*add)(dl_extensions*, const dl_format*, dl_error*) =
      (void*)plugin->find("dl_extensions_add_format");
  from_reader = (void*)plugin->find("dl_dataset_from_reader");
  dl_format format = {0};
  format.struct_size = sizeof format;
  format.name = "cancels";
  format.open = cancels;
  plugin->built_for = DL_ABI_VERSION;
  dl_status status = add(plugin->extensions, &format, error);
  format.name = "interrupts";
  format.open = interrupts;
  return status == DL_OK ? add(plugin->extensions, &format, error) : status;
}
#else            /* without the entry point */
DL_API int32_t not_a_plugin(void);
int32_t not_a_plugin(void) { return 0; }
#endif
