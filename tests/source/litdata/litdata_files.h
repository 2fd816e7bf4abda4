// Writes LitData sets as their format says, and as it does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace dataline {

inline std::string lit_word(uint32_t value, bool big = false) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (big ? 24 - 8 * i : 8 * i));
  return out;
}

// Items are the bytes of their fields.
struct LitChunk {
  std::vector<std::vector<std::string>> items;
  bool sizes = true;  // of the fields, before them; not in chunks of tokens

  std::string item(size_t i) const {
    std::string head, values;
    for (const std::string& value : items[i]) {
      if (sizes) head += lit_word(static_cast<uint32_t>(value.size()));
      values += value;
    }
    return head + values;
  }
  std::string bytes() const {
    auto at = static_cast<uint32_t>(4 * (items.size() + 2));
    std::string out = lit_word(static_cast<uint32_t>(items.size())) + lit_word(at), data;
    for (size_t i = 0; i < items.size(); ++i) {
      data += item(i);
      at += static_cast<uint32_t>(item(i).size());
      out += lit_word(at);
    }
    return out + data;
  }
};

inline std::string lit_joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}
inline std::string lit_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\"";
}

const std::string kLitLeaf = R"({"type": null, "context": null, "children_spec": []})";

inline std::string lit_node(const std::string& type, const std::string& context,
                            const std::vector<std::string>& children) {
  return "{\"type\": \"" + type + "\", \"context\": " + lit_quoted(context) + ", \"children_spec\": [" +
         lit_joined(children) + "]}";
}
inline std::string lit_dict(const std::vector<std::string>& keys, std::vector<std::string> children = {}) {
  std::vector<std::string> quoted;
  for (const std::string& key : keys) quoted.push_back(lit_quoted(key));
  if (children.empty()) children.assign(keys.size(), kLitLeaf);
  return lit_node("builtins.dict", "[" + lit_joined(quoted) + "]", children);
}
inline std::string lit_spec(const std::string& node) { return "[1, " + node + "]"; }

inline std::string lit_entry(const LitChunk& chunk, const std::string& name,
                             const std::string& dim = "null") {
  return "{\"chunk_bytes\": " + std::to_string(chunk.bytes().size()) +
         ", \"chunk_size\": " + std::to_string(chunk.items.size()) + ", \"dim\": " + dim +
         ", \"filename\": \"" + name + "\"}";
}

struct LitConfig {
  std::vector<std::string> formats;
  std::string spec;  // "": null
  std::string compression = "null", encryption = "null", loader = "\"PyTreeLoader\"";

  std::string text() const {
    std::vector<std::string> quoted;
    for (const std::string& format : formats) quoted.push_back(lit_quoted(format));
    return "{\"chunk_bytes\": 64000000, \"chunk_size\": null, \"compression\": " + compression +
           ", \"data_format\": [" + lit_joined(quoted) +
           "], \"data_spec\": " + (spec.empty() ? "null" : lit_quoted(spec)) +
           ", \"encryption\": " + encryption + ", \"item_loader\": " + loader + "}";
  }
};

inline std::string lit_index(const std::vector<std::string>& entries, const LitConfig& config) {
  return "{\"chunks\": [" + lit_joined(entries) + "], \"config\": " + config.text() +
         ", \"updated_at\": \"1\"}";
}

// Two fields: label i64, text.
inline LitConfig lit_config() { return {{"int", "str"}, lit_spec(lit_dict({"label", "text"}))}; }
inline LitChunk lit_chunk(const std::vector<std::string>& texts, int64_t first_label = 0) {
  LitChunk chunk;
  for (const std::string& text : texts) {
    std::string label(sizeof first_label, '\0');
    std::memcpy(label.data(), &first_label, label.size());
    ++first_label;
    chunk.items.push_back({label, text});
  }
  return chunk;
}

// An array with its header: of NumPy, or of a tensor.
inline std::string lit_array(const std::vector<uint32_t>& words, const std::string& data, bool big) {
  std::string out;
  for (const uint32_t word : words) out += lit_word(word, big);
  return out + data;
}

}  // namespace dataline
