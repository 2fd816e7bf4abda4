// `dataline formats` and `dataline help uris`: the library's table of formats, and what plug-ins add to it.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/commands.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// What a URI looks like.
std::string uri_text() {
  return "usage: SCHEME:PATH[,PATH...][?KEY=VALUE&KEY=VALUE], or a path, whose format is detected\n\n" +
         table_text({{"A path is a file or a directory. A directory is its files of that format, in natural "
                      "order (part-2 before part-10). Several paths are concatenated; named paths are put "
                      "side by side: npy:image=a.npy,label=b.npy. In paths and values, write the characters "
                      "% , ? & = as %25 %2C %3F %26 %3D; a path without a scheme is used unchanged. On a "
                      "command line, quote a URI with ? & {. Only local files and storages of plug-ins "
                      "(--plugin) are read: download or mount s3:// and https:// first."}},
                    output_width(), 0) +
         "\n";
}

std::string format_text(const FormatRow& row) {
  std::vector<std::vector<std::string>> keys;
  for (const dl_format_key& key : row.keys) {
    const std::string preset =
        key.default_value == nullptr ? "" : " (default " + std::string(key.default_value) + ")";
    keys.push_back({std::string(key.name) + "=" + key.values, key.doc + preset});
  }
  return wrapped_text(std::string(row.info.name) + ": " + row.info.doc, output_width(), 2) + "\n" +
         table_text(keys, output_width(), 4);
}

// "dataline info 'tokens:PATH?length=1024'": the first key with its default, if there is one.
std::string format_example(const FormatRow& row) {
  std::string uri = std::string(row.info.name) + ":PATH";
  for (const dl_format_key& key : row.keys) {
    if (key.default_value == nullptr || key.default_value[0] == '\0') continue;
    uri = "'" + uri + "?" + key.name + "=" + key.default_value + "'";
    break;
  }
  return "dataline info " + uri;
}

std::string formats_text(const dl_extensions* extensions) {
  std::string out;
  for (const FormatRow& row : format_table(extensions)) out += (out.empty() ? "" : "\n") + format_text(row);
  const std::vector<dl_storage> storages = storage_table(extensions);
  if (storages.empty()) return out;
  std::vector<std::vector<std::string>> rows;
  for (const dl_storage& storage : storages)
    rows.push_back({std::string(storage.scheme) + "://", storage.doc});
  return out + "\nstorages, for the paths of a URI\n" + table_text(rows, output_width(), 4);
}

void append_format(const FormatRow& row, Json& json) {
  json.begin_object();
  json.key("name").value(row.info.name);
  json.key("doc").value(row.info.doc);
  json.key("keys").begin_array();
  for (const dl_format_key& key : row.keys) {
    json.begin_object();
    json.key("name").value(key.name);
    json.key("values").value(key.values);
    json.key("default");
    key.default_value == nullptr ? json.null() : json.value(key.default_value);
    json.key("doc").value(key.doc);
    json.end_object();
  }
  json.end_array().end_object();
}

std::string formats_json(const dl_extensions* extensions) {
  Json json;
  json.begin_object().key("formats").begin_array();
  for (const FormatRow& row : format_table(extensions)) append_format(row, json);
  json.end_array().key("storages").begin_array();
  for (const dl_storage& storage : storage_table(extensions)) {
    json.begin_object();
    json.key("scheme").value(storage.scheme);
    json.key("doc").value(storage.doc);
    json.end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

}  // namespace

int run_formats(const Request& request, const Interrupts& interrupts) {
  const dl_extensions* extensions = request.extensions.get();
  if (request.positionals.empty()) {
    print(request.has("json") ? formats_json(extensions)
                              : (request.uri_help ? uri_text() : "") + formats_text(extensions),
          interrupts);
    return 0;
  }
  std::vector<std::string> names;
  for (const FormatRow& row : format_table(extensions)) {
    names.push_back(row.info.name);
    if (request.positionals[0] != row.info.name) continue;
    Json json;
    append_format(row, json);
    print(request.has("json") ? json.text() + "\n"
                              : format_text(row) + "\n    example  " + format_example(row) + "\n",
          interrupts);
    return 0;
  }
  no_such_name(request, "format", names);
}

}  // namespace dataline::cli
