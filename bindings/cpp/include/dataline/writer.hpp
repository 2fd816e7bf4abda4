// Writer: writes rows as a set, which is a directory of shards and a manifest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/array.hpp>
#include <dataline/calls.hpp>
#include <dataline/error.hpp>
#include <dataline/reader.hpp>
#include <dataline/views.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Writes rows to `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`, which Dataset opens as `FORMAT:PATH`.
// writer_format_table() lists the formats. The set is PATH.partial until finish, so PATH is always a complete set.
// A Writer destroyed without finish leaves its finished shards in PATH.partial. A new Writer with the same
// arguments resumes after the last finished shard.
//
// append, finish and info: any thread, concurrently. An unstable part of dataline.h: it may change in a minor release.
//   dataline::Writer writer("arrow:set", {Field::dense<float>("x", {3}), Field::ragged<uint8_t>("text")});
//   writer.append({Array("x", x, {n, 3}), Array::ragged("text", letters, offsets)});
//   writer.finish();
class Writer : public detail::WriterCalls<Writer> {
 public:
  Writer() noexcept = default;
  explicit Writer(dl_writer* taken) noexcept : writer_(taken) {}
  explicit operator bool() const noexcept { return writer_ != nullptr; }

  // `fields` are the fields of one sample. `job` identifies the input of the set. A PATH.partial with finished
  // shards of another job, other fields, another shard_bytes or codec is rejected (DL_ERR_STATE_REFUSED). DL_ERR_BAD_URI
  // (column), DL_ERR_UNSUPPORTED (a field that the format cannot store), DL_ERR_WRONG_STATE (PATH exists, or
  // another process writes it), ...: see dl_writer_create.
  Writer(const std::string& uri, const std::vector<Field>& fields, const std::string& job = "")
      : Writer(try_create(uri, fields, job).value()) {}
  static Result<Writer> try_create(const std::string& uri, const std::vector<Field>& fields,
                                   const std::string& job = "") {
    const detail::FieldViews views(fields);
    return made(uri, views.data(), views.size(), job);
  }
  // With the fields of a dataset: dataset.fields().
  Writer(const std::string& uri, const Views& fields, const std::string& job = "")
      : Writer(try_create(uri, fields, job).value()) {}
  static Result<Writer> try_create(const std::string& uri, const Views& fields, const std::string& job = "") {
    return made(uri, fields.empty() ? nullptr : &(*fields.begin()).raw(), fields.size(), job);
  }

  // Appends the samples of all arrays, one array per field in field order. The arrays are read during the call
  // only. `position`: what the host needs to resume after these rows. DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT,
  // DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE: no row is written, and the writer stays usable. After a file-system
  // error (DL_ERR_IO, ...) every call returns that error.
  Result<void> try_append(const std::vector<Array>& arrays, const std::string& position = "") {
    const Result<std::vector<dl_array>> raw = detail::raw_of(arrays);
    if (!raw) return raw.error();
    return detail::result_of([&](dl_error* error) {
      return dl_writer_append(writer_.get(), raw->data(), static_cast<int32_t>(raw->size()), position.c_str(),
                              error);
    });
  }
  void append(const std::vector<Array>& arrays, const std::string& position = "") {
    try_append(arrays, position).value();
  }

  // The position passed with the last rows of the last shard that existed at create; "": none. Borrowed.
  const char* position() const noexcept { return dl_writer_position(writer_.get()); }

  dl_writer* get() const noexcept { return writer_.get(); }
  // Transfers the handle to the caller.
  dl_writer* release() noexcept { return writer_.release(); }

 private:
  static Result<Writer> made(const std::string& uri, const dl_view* fields, int32_t count,
                             const std::string& job) {
    return detail::make<Writer, dl_writer>([&](dl_writer** out, dl_error* error) {
      return dl_writer_create(uri.c_str(), fields, count, job.c_str(), out, error);
    });
  }

  std::unique_ptr<dl_writer, detail::Destroyer<dl_writer, dl_writer_destroy>> writer_;
};

// A format that can be written.
struct WriterFormat {
  std::string_view name;
  std::string_view doc;
};

// All formats that can be written. The texts are never freed.
inline std::vector<WriterFormat> writer_format_table() {
  std::vector<WriterFormat> table;
  const int32_t count = dl_writer_format_count();
  for (int32_t i = 0; i < count; ++i) table.push_back({dl_writer_format_name(i), dl_writer_format_doc(i)});
  return table;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
