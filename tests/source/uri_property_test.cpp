// Whatever bytes a path has, its escaped form in a URI names it again.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/source/uri.h"
#include "tests/support/uri_escape.h"

namespace dataline::uri_property_test {
namespace {

// Any bytes but NUL, with those that mean something in a URI made common.
rc::Gen<std::string> any_path() {
  auto byte = rc::gen::oneOf(
      rc::gen::elementOf(std::string("%,?&=:/. 0aF")),
      rc::gen::map(rc::gen::inRange(1, 256), [](int value) { return static_cast<char>(value); }));
  return rc::gen::nonEmpty(rc::gen::container<std::string>(byte));
}

RC_GTEST_PROP(UriEscape, PathsAndValuesComeBack, ()) {
  auto paths = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(any_path()));
  auto value = *any_path();
  std::string text = "npy:";
  for (size_t i = 0; i < paths.size(); ++i) text += (i == 0 ? "" : ",") + uri_escape(paths[i]);
  Result<Uri> uri = parse_uri(text + "?key=" + uri_escape(value));
  RC_ASSERT(uri.is_ok());
  RC_ASSERT(uri.value().paths.size() == paths.size());
  for (size_t i = 0; i < paths.size(); ++i) RC_ASSERT(uri.value().paths[i].path == paths[i]);
  RC_ASSERT(uri.value().find("key")->value == value);
}

RC_GTEST_PROP(UriEscape, NamedPathsComeBack, ()) {
  auto path = *any_path();
  Result<Uri> uri = parse_uri("npy:image=" + uri_escape(path) + ",label=x");
  RC_ASSERT(uri.is_ok());
  RC_ASSERT(uri.value().paths[0].name == "image");
  RC_ASSERT(uri.value().paths[0].path == path);
}

RC_GTEST_PROP(ParseUri, AnyTextGivesAResultOrAColumnInsideIt, ()) {
  auto text =
      *rc::gen::map(rc::gen::pair(rc::gen::element<std::string>("", "npy:", "raw:a?", "npy:x="), any_path()),
                    [](const std::pair<std::string, std::string>& p) { return p.first + p.second; });
  Result<Uri> uri = parse_uri(text);
  if (uri.is_ok()) {
    RC_ASSERT(!uri.value().paths.empty());
    for (const UriPath& path : uri.value().paths) RC_ASSERT(!path.path.empty());
  } else {
    RC_ASSERT(uri.status().code() == Code::kBadUri);
    RC_ASSERT(uri.status().column() >= 1);
    RC_ASSERT(uri.status().column() <= static_cast<int64_t>(text.size()) + 1);
  }
}

}  // namespace
}  // namespace dataline::uri_property_test
