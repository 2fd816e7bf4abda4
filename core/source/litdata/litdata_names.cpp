// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_names.h"

#include <optional>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/json.h"
#include "core/source/shards/column_shard.h"

namespace dataline {
namespace {

constexpr int kMaxTreeDepth = 32;

class TreeNames {
 public:
  TreeNames(const std::string& place, std::string_view spec)
      : place_(place), json_(place_, 1, spec, "its end") {}

  Result<std::vector<std::string>> read() {
    DL_RETURN_IF_ERROR(json_.expect('['));
    std::string_view protocol;
    bool whole = false;
    DL_RETURN_IF_ERROR(json_.read_number(protocol, whole));
    if (protocol != "1")
      return error(Code::kUnsupported, place_, ": protocol ", shown_text(protocol), " of trees, expected 1");
    DL_RETURN_IF_ERROR(json_.expect(','));
    DL_RETURN_IF_ERROR(node("", 0));
    DL_RETURN_IF_ERROR(json_.expect(']'));
    if (!json_.at_end()) return json_.expected("nothing but spaces");
    return std::move(names_);
  }

 private:
  // {"type": "builtins.dict", "context": "[\"a\", \"b\"]", "children_spec": [...]}; a leaf has no type.
  Status node(const std::string& name, int depth) {
    if (depth > kMaxTreeDepth)
      return error(Code::kUnsupported, place_, ": items nested more than ", kMaxTreeDepth, " deep");
    std::string type, context;
    bool children_seen = false;
    size_t children = 0;
    std::optional<std::vector<std::string>> keys;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& key) -> Status {
      if (key == "type") return json_.take_word("null") ? Status::ok() : json_.read_string(type);
      if (key == "context") return json_.take_word("null") ? Status::ok() : read_context(context);
      if (key != "children_spec") return json_.skip_value();
      if (children_seen) return json_.refuse("two children_spec in one node");
      children_seen = true;
      if (type == "builtins.dict" || type == "collections.OrderedDict") {
        DL_ASSIGN_OR_RETURN(keys, read_keys(context));
      }
      return json_.each_item([&]() -> Status {
        if (keys && children >= keys->size()) return wrong_children(children + 1, keys->size());
        const std::string own = keys ? (*keys)[children] : std::to_string(children);
        ++children;
        return node(name.empty() ? own : name + "/" + own, depth + 1);
      });
    }));
    if (keys && children != keys->size()) return wrong_children(children, keys->size());
    return type.empty() ? leaf(name, children) : Status::ok();
  }

  Status wrong_children(size_t children, size_t keys) const {
    return json_.refuse("a dict of ", keys, " keys with ", children, " children_spec");
  }

  Status leaf(const std::string& name, size_t children) {
    if (children > 0) return json_.refuse("children of a node without a type");
    if (names_.size() == kMaxShardColumns)
      return error(Code::kUnsupported, place_, ": more than ", kMaxShardColumns, " fields");
    names_.push_back(name.empty() ? "data" : name);
    return Status::ok();
  }

  // JSON in a string; of types that have a form of their own, anything.
  Status read_context(std::string& out) {
    return json_.peek() == '"' ? json_.read_string(out) : json_.skip_value();
  }

  // Keys are texts or numbers.
  Result<std::vector<std::string>> read_keys(const std::string& context) const {
    const std::string place = place_ + ": the keys of a dict";
    JsonReader json(place, 1, context, "their end");
    std::vector<std::string> keys;
    const auto read_key = [&]() -> Status {
      if (keys.size() == kMaxShardColumns)
        return error(Code::kUnsupported, place, ": more than ", kMaxShardColumns);
      std::string& key = keys.emplace_back();
      if (json.peek() != '"') {
        std::string_view digits;
        bool whole = false;
        DL_RETURN_IF_ERROR(json.read_number(digits, whole));
        key = digits;
        return Status::ok();
      }
      DL_RETURN_IF_ERROR(json.read_string(key));
      return key.empty() ? json.refuse("a key without text") : Status::ok();
    };
    DL_RETURN_IF_ERROR(json.each_item(read_key));
    if (!json.at_end()) return json.expected("nothing but spaces");
    return keys;
  }

  const std::string place_;
  JsonReader json_;
  std::vector<std::string> names_;
};

}  // namespace

Result<std::vector<std::string>> litdata_names(const std::string& place, std::string_view spec) {
  return TreeNames(place, spec).read();
}

}  // namespace dataline
