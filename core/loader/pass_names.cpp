// SPDX-License-Identifier: Apache-2.0
#include "core/loader/pass_names.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"

namespace dataline {
namespace {

// Each name once: rows of the table are told apart by them.
std::string named_once(std::string name, std::set<std::string>& taken) {
  const std::string first = name;
  for (int again = 2; !taken.insert(name).second; ++again) name = concat(first, " (", again, ")");
  return name;
}

}  // namespace

std::vector<Metrics::Pass> name_passes(const Pipeline& pipeline) {
  std::vector<Metrics::Pass> out;
  std::set<std::string> taken;
  const size_t storages = pipeline.groups > 0 ? pipeline.passes.size() / pipeline.groups : 0;
  for (size_t p = 0; p < pipeline.passes.size(); ++p) {
    const Program& program = *pipeline.passes[p].program;
    const auto storage = static_cast<int32_t>(p % std::max<size_t>(storages, 1));
    const auto route = std::find_if(pipeline.routes.begin(), pipeline.routes.end(),
                                    [&](const Route& each) { return each.storage == storage; });
    const std::string field = program.output().name.empty() ? "records" : program.output().name;
    const std::string of_group = pipeline.groups > 1 ? concat(" [group ", p / storages, "]") : std::string();
    const bool copies = program.identity() || route == pipeline.routes.end() || route->host_text.empty();
    Metrics::Pass pass;
    pass.text = named_once(concat(field, ": ", copies ? "copy" : route->host_text, of_group), taken);
    for (const std::string& part : program.parts())
      pass.parts.push_back(named_once(concat(field, ": ", part, of_group), taken));
    out.push_back(std::move(pass));
  }
  return out;
}

}  // namespace dataline
