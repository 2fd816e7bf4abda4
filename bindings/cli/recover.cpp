// `dataline recover`: what can be read of a damaged set, as a new one; and what is lost.
//
// Files that cannot be opened, or are not what their checksum says, are left out (bad_files=skip, checksums=files); files that are cut or
// damaged are read as far as their format shows what is whole (the keys end=cut, partial=ignore and damage=skip of formats that have
// them); bad samples are left out by the loader.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/output.h"
#include "bindings/cli/set_writer.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// The URI with the keys that make its format read what is cut; those that it has stay.
std::string lenient(const std::string& uri, const dl_extensions* extensions) {
  constexpr std::string_view kKeys[][2] = {{"end", "cut"}, {"partial", "ignore"}, {"damage", "skip"}};
  const std::string scheme = uri.substr(0, uri.find(':'));
  std::string out = uri;
  for (const FormatRow& row : format_table(extensions)) {
    if (scheme != row.info.name) continue;
    for (const dl_format_key& key : row.keys) {
      for (const auto& [name, value] : kKeys) {
        const std::string text = std::string(name) + "=";
        const bool takes =
            name == key.name &&
            ("|" + std::string(key.values) + "|").find("|" + std::string(value) + "|") != std::string::npos;
        const bool given =
            uri.find("?" + text) != std::string::npos || uri.find("&" + text) != std::string::npos;
        if (takes && !given)
          out += (out.find('?') == std::string::npos ? "?" : "&") + text + std::string(value);
      }
    }
  }
  return out;
}

}  // namespace

int run_recover(const Request& request, const Interrupts& interrupts) {
  Progress progress(standard_output_is_terminal());
  Job job(request, interrupts, progress);
  if (request.option("bad_files").empty()) job.set("bad_files", "skip");
  if (request.option("checksums").empty()) job.set("checksums", "files");
  job.set_uri(lenient(request.uri(), request.extensions.get()));
  progress.leave_losses_to_command();
  const Dataset dataset = job.open();
  job.one_at_a_time_if_ragged(request, dataset.get());
  const Loader loader = job.create(dataset.get());
  SetWriter set("recover", request, interrupts, progress, job, true);
  set.write(dataset.get(), loader.get());
  const std::vector<std::string> lost = losses_of(dataset.get());
  std::string text;
  Json json;
  json.begin_object().key("lost").begin_array();
  for (const std::string& line : lost) {
    text += message_text(line) + "\n";
    json.value(line);
  }
  json.end_array();
  set.summary(json);
  json.end_object();
  print(request.has("json") ? json.text() + "\n" : text + set.summary() + "\n", interrupts);
  return 0;
}

}  // namespace dataline::cli
