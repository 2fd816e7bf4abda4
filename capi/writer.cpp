// Writers of sets.
// SPDX-License-Identifier: Apache-2.0
#include "core/write/writer.h"

#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_fields.h"

using namespace dataline;
using namespace dataline::capi;

struct dl_writer {
  std::unique_ptr<Writer> core;
};

extern "C" {

dl_status dl_writer_create(const char* uri, const dl_view* fields, int32_t field_count, const char* job,
                           dl_writer** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(uri);
    DL_REQUIRE(fields);
    DL_ASSIGN_OR_RETURN(std::vector<Field> given, read_fields(fields, field_count));
    auto handle = std::make_unique<dl_writer>();
    DL_ASSIGN_OR_RETURN(handle->core, Writer::create(uri, std::move(given), job != nullptr ? job : ""));
    *out = handle.release();
    return Status::ok();
  });
}

dl_status dl_writer_append(dl_writer* writer, const dl_array* arrays, int32_t count, const char* position,
                           dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(writer);
    DL_REQUIRE(arrays);
    int64_t samples = 0;
    DL_ASSIGN_OR_RETURN(std::vector<ArrayField> given, read_arrays(arrays, count, samples));
    return writer->core->append(std::move(given), samples, position != nullptr ? position : "");
  });
}

dl_status dl_writer_finish(dl_writer* writer, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(writer);
    return writer->core->finish();
  });
}

dl_status dl_writer_get_info(const dl_writer* writer, dl_writer_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(writer);
    DL_REQUIRE(out);
    const WriterCounts counts = writer->core->counts();
    dl_writer_info info = {};
    info.samples = counts.samples;
    info.resumed_samples = counts.resumed_samples;
    info.shards = counts.shards;
    info.bytes = counts.bytes;
    return copy_struct(info, out);
  });
}

const char* dl_writer_position(const dl_writer* writer) {
  return writer == nullptr ? "" : writer->core->position().c_str();
}

void dl_writer_destroy(dl_writer* writer) { delete writer; }

int32_t dl_writer_format_count(void) { return static_cast<int32_t>(write_formats().size()); }

const char* dl_writer_format_name(int32_t index) {
  return index >= 0 && index < dl_writer_format_count()
             ? write_formats()[static_cast<size_t>(index)]->name.data()
             : nullptr;
}

const char* dl_writer_format_doc(int32_t index) {
  return index >= 0 && index < dl_writer_format_count()
             ? write_formats()[static_cast<size_t>(index)]->doc.data()
             : nullptr;
}

}  // extern "C"
