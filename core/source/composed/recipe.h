// Recipes of mixes, as JSON; a part may have a "transform" too:
//   {"parts": [{"name": "web", "uri": "tokens:web/", "weight": 0.7}, {"name": "code", "uri": "tokens:code/", "weight": 0.3}],
//    "schedule": [{"step": 10000, "weights": {"web": 0.5, "code": 0.5}}], "samples_per_epoch": 1000000}
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/memory/mapped_file.h"
#include "core/source/composed/mix.h"
#include "core/source/format.h"

namespace dataline {

// The parts have no sources yet, and their URIs are as written. `path` is for messages. kCorrupt with line and byte: not JSON, an
// unknown, repeated or missing key, a value of another kind; else what check_recipe() says.
Result<MixRecipe> read_recipe(const std::string& path, std::string_view text);

// The text of a URI whose relative paths begin in `directory`. kBadUri.
Result<std::string> uri_in_directory(std::string_view uri, std::string_view directory,
                                     const OpenContext& context);

// Opens the recipe and its parts, whose relative paths are relative to the recipe. Errors name the recipe and the part.
Result<SourceRef> open_recipe(const std::string& path, const OpenContext& context, FormatSpan known);

}  // namespace dataline
