// Writer: rows become a set, a directory of shards and a manifest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/array.hpp>
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

// Writes `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`, which Dataset opens by `FORMAT:PATH`; writer_format_table() lists the
// formats. Until finish the set is PATH.partial, so that PATH is a whole set or is not there. A Writer that goes without finish leaves the
// finished shards in PATH.partial; one with the same arguments goes on behind the last of them.
//
// append, finish and info: any thread, also at once. An unstable part of dataline.h: it may still change in a minor release.
//   dataline::Writer writer("arrow:set", {Field::dense<float>("x", {3}), Field::ragged<uint8_t>("text")});
//   writer.append({Array("x", x, {n, 3}), Array::ragged("text", letters, offsets)});
//   writer.finish();
class Writer {
 public:
  Writer() noexcept = default;
  explicit Writer(dl_writer* taken) noexcept : writer_(taken) {}
  explicit operator bool() const noexcept { return writer_ != nullptr; }

  // `fields`: those of one sample. `job` says what the set is made of: a PATH.partial with finished shards of another job, other
  // fields or another shard_bytes is refused (DL_ERR_STATE_REFUSED). DL_ERR_BAD_URI (column), DL_ERR_UNSUPPORTED (a field that
  // the format does not hold), DL_ERR_WRONG_STATE (PATH exists, or another process writes it), ...: dl_writer_create lists them.
  Writer(const std::string& uri, const std::vector<Field>& fields, const std::string& job = "")
      : Writer(try_create(uri, fields, job).value()) {}
  static Result<Writer> try_create(const std::string& uri, const std::vector<Field>& fields,
                                   const std::string& job = "") {
    const detail::FieldViews views(fields);
    return made(uri, views.data(), views.size(), job);
  }
  // Of a dataset: dataset.fields().
  Writer(const std::string& uri, const Views& fields, const std::string& job = "")
      : Writer(try_create(uri, fields, job).value()) {}
  static Result<Writer> try_create(const std::string& uri, const Views& fields, const std::string& job = "") {
    return made(uri, fields.empty() ? nullptr : &(*fields.begin()).raw(), fields.size(), job);
  }

  // Appends the samples of all arrays, one array per field in their order; they are read during the call only. `position`: what
  // the host needs to go on after these rows. DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT, DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE: none
  // of the rows is written, and the writer stays usable. After a failure of the file system (DL_ERR_IO, ...) each call gives it.
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

  // Ends the last shard and gives the set its name; nothing can be appended afterwards. DL_ERR_EMPTY: there is no row.
  Result<void> try_finish() {
    return detail::result_of([&](dl_error* error) { return dl_writer_finish(writer_.get(), error); });
  }
  void finish() { try_finish().value(); }

  // How far it is: samples, with those that were there at create (resumed_samples), finished shards, and their bytes.
  Result<dl_writer_info> try_info() const {
    dl_writer_info info = {};
    info.struct_size = sizeof info;
    const Result<void> done =
        detail::result_of([&](dl_error* error) { return dl_writer_get_info(writer_.get(), &info, error); });
    if (!done) return done.error();
    return info;
  }
  dl_writer_info info() const { return try_info().value(); }
  // Of the last shard that was there at create; "": none. Borrowed.
  const char* position() const noexcept { return dl_writer_position(writer_.get()); }

  dl_writer* get() const noexcept { return writer_.get(); }
  // Gives the handle away.
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

// A format that is written.
struct WriterFormat {
  std::string_view name;
  std::string_view doc;
};

// All of them. The texts are never freed.
inline std::vector<WriterFormat> writer_format_table() {
  std::vector<WriterFormat> table;
  const int32_t count = dl_writer_format_count();
  for (int32_t i = 0; i < count; ++i) table.push_back({dl_writer_format_name(i), dl_writer_format_doc(i)});
  return table;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
