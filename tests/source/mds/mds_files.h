// Writes MDS datasets as their format says, and as it does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace dataline {

template <typename T>
std::string mds_bytes(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

struct MdsFileColumn {
  std::string name, encoding, size = "null";  // size: as JSON
};

// Samples are their values, column by column.
struct MdsFile {
  std::vector<MdsFileColumn> columns;
  std::vector<std::vector<std::string>> samples;
  std::string config = "{\"format\": \"mds\"}";

  std::string sample(size_t i) const {
    std::string sizes, values;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].size == "null") sizes += mds_bytes(static_cast<uint32_t>(samples[i][c].size()));
      values += samples[i][c];
    }
    return sizes + values;
  }
  std::string bytes() const {
    std::string out = mds_bytes(static_cast<uint32_t>(samples.size())), data;
    uint32_t at = static_cast<uint32_t>(4 * (samples.size() + 2) + config.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      out += mds_bytes(at);
      at += static_cast<uint32_t>(sample(i).size());
      data += sample(i);
    }
    return out + mds_bytes(at) + config + data;
  }
};

inline std::string mds_texts(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + text;
  return out + "]";
}

inline std::string mds_entry(const MdsFile& file, const std::string& name) {
  std::vector<std::string> names, encodings, sizes;
  for (const MdsFileColumn& column : file.columns) {
    names.push_back('"' + column.name + '"');
    encodings.push_back('"' + column.encoding + '"');
    sizes.push_back(column.size);
  }
  return "{\"column_encodings\": " + mds_texts(encodings) + ", \"column_names\": " + mds_texts(names) +
         ", \"column_sizes\": " + mds_texts(sizes) +
         ", \"compression\": null, \"format\": \"mds\", \"hashes\": [], \"raw_data\": {\"basename\": \"" +
         name + "\", \"bytes\": " + std::to_string(file.bytes().size()) +
         ", \"hashes\": {}}, \"samples\": " + std::to_string(file.samples.size()) +
         ", \"size_limit\": 67108864, \"version\": 2, \"zip_data\": null}";
}

// Of a shard whose compressed file is there instead. codec: as Streaming says it, "zstd:3".
inline std::string mds_compressed_entry(const MdsFile& file, const std::string& name,
                                        const std::string& codec, const std::string& compressed,
                                        size_t bytes) {
  std::string entry = mds_entry(file, name);
  const auto set = [&](const std::string& key, const std::string& value) {
    entry.replace(entry.find("\"" + key + "\": null"), key.size() + 8, "\"" + key + "\": " + value);
  };
  set("compression", "\"" + codec + "\"");
  set("zip_data",
      "{\"basename\": \"" + compressed + "\", \"bytes\": " + std::to_string(bytes) + ", \"hashes\": {}}");
  return entry;
}

inline std::string mds_index(const std::vector<std::string>& entries) {
  return "{\"shards\": " + mds_texts(entries) + ", \"version\": 2}";
}

// Two columns: label i64, text.
inline MdsFile mds_file(const std::vector<std::string>& texts, int64_t first_label = 0) {
  MdsFile file{{{"label", "int", "8"}, {"text", "str"}}, {}};
  for (const std::string& text : texts) file.samples.push_back({mds_bytes(first_label++), text});
  return file;
}

}  // namespace dataline
