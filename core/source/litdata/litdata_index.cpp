// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_index.h"

#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/json.h"
#include "core/source/litdata/litdata_names.h"
#include "core/source/litdata/litdata_packed.h"
#include "core/source/shards/shard_set.h"

namespace dataline {
namespace {

constexpr size_t kChunksPerLook = 1024;  // at the cancel token

class LitdataIndexParser {
 public:
  LitdataIndexParser(const std::string& path, std::string_view text, const OpenContext& context)
      : json_(path, 1, text, "its end"), context_(context) {
    index_.path = path;
  }

  Result<LitdataIndex> parse() {
    bool chunks = false, config = false, shards = false;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& key) -> Status {
      if (key == "config") return config = true, read_config();
      if (key == "chunks") return chunks = true, json_.each_item([&] { return read_chunk(); });
      shards = shards || key == "shards";
      return json_.skip_value();
    }));
    if (!json_.at_end()) return json_.expected("nothing but spaces");
    if (!chunks || !config)
      return error(Code::kCorrupt, index_.path,
                   ": expected the keys chunks and config, as litdata.optimize writes them, ",
                   chunks ? "config" : "chunks", " is missing",
                   shards ? " (this is an MDS set: mds:DIRECTORY)" : "");
    DL_RETURN_IF_ERROR(check_config());
    if (index_.chunks.empty()) return error(Code::kEmpty, index_.path, ": no chunks");
    DL_RETURN_IF_ERROR(name_fields());
    name_uncompressed();
    return std::move(index_);
  }

 private:
  Status read_text(std::string& out) {
    return json_.take_word("null") ? Status::ok() : json_.read_string(out);
  }

  Status read_config() {
    return json_.each_member([&](const std::string& key) -> Status {
      if (key == "compression") return read_text(compression_);
      if (key == "compression_level") return read_text(level_);
      if (key == "data_spec") return read_text(spec_);
      if (key == "item_loader") return read_text(item_loader_);
      if (key == "encryption" && !json_.take_word("null")) return encrypted_ = true, json_.skip_value();
      if (key == "data_format" && !json_.take_word("null")) {
        return json_.each_item([&]() -> Status {
          if (index_.fields.size() == kMaxShardColumns)
            return error(Code::kUnsupported, index_.path, ": more than ", kMaxShardColumns, " fields");
          return json_.read_string(index_.fields.emplace_back().format);
        });
      }
      return key == "encryption" || key == "data_format" ? Status::ok() : json_.skip_value();
    });
  }

  Status check_config() {
    if (encrypted_)
      return error(Code::kUnsupported, index_.path,
                   ": the chunks are encrypted, which is not supported (write the set without encryption)");
    if (!level_.empty() && level_ != "chunk" && level_ != "batch" && level_ != "sample")
      return error(Code::kUnsupported, index_.path, ": compression_level ", printable(level_),
                   ", expected chunk, batch or sample");
    if (compressed_within() && compression_ != "zstd" && !compression_.starts_with("zstd:"))
      return error(Code::kUnsupported, index_.path, ": items compressed with ", printable(compression_),
                   ", which is not supported (write the set with zstd or without compression)");
    if (item_loader_ == "ParquetLoader")
      return error(
          Code::kUnsupported, index_.path,
          ": the chunks are Parquet files: open them with the scheme parquet, as in parquet:DIRECTORY");
    index_.is_tokens = item_loader_ == "TokensLoader";
    if (!index_.is_tokens && !item_loader_.empty() && item_loader_ != "PyTreeLoader")
      return error(Code::kUnsupported, index_.path, ": item_loader ", printable(item_loader_),
                   ", expected PyTreeLoader or TokensLoader");
    return Status::ok();
  }

  Status read_chunk() {
    if (index_.chunks.size() % kChunksPerLook == 0) {
      if (context_.cancelled())
        return error(Code::kCancelled, index_.path, ": cancelled after ", index_.chunks.size(), " chunks");
      context_.report("reading ", index_.path);
    }
    ShardEntry chunk;
    chunk.bytes = chunk.samples = -1;
    int64_t tokens = -1;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& key) -> Status {
      if (key == "chunk_bytes") return json_.read_count(chunk.bytes);
      if (key == "chunk_size") return json_.read_count(chunk.samples);
      if (key == "filename") return json_.read_string(chunk.name);
      if (key == "dim" && !json_.take_word("null")) return json_.read_count(tokens);
      return key == "dim" ? Status::ok() : json_.skip_value();
    }));
    chunk.wrong = check_shard_entry(index_.path, index_.chunks.size(), chunk,
                                    {"chunk", "filename", "chunk_bytes", "chunk_size"});
    if (context_.bad_files == BadFiles::kError) DL_RETURN_IF_ERROR(chunk.wrong);
    index_.chunks.push_back(std::move(chunk));
    index_.tokens.push_back(tokens);
    return Status::ok();
  }

  Status name_fields() {
    std::vector<LitdataField>& fields = index_.fields;
    if (fields.empty()) return error(Code::kCorrupt, index_.path, ": config.data_format names no fields");
    std::vector<std::string> names;
    if (!spec_.empty()) {
      DL_ASSIGN_OR_RETURN(names, litdata_names(index_.path + ": config.data_spec", spec_));
    } else {
      for (size_t f = 0; f < fields.size(); ++f)
        names.push_back(fields.size() == 1 ? "data" : std::to_string(f));
    }
    if (names.size() != fields.size())
      return error(Code::kCorrupt, index_.path, ": config.data_spec has ", names.size(),
                   " fields, config.data_format ", fields.size());
    for (size_t f = 0; f < fields.size(); ++f) {
      for (size_t other = 0; other < f; ++other) {
        if (fields[other].name == names[f])
          return error(Code::kCorrupt, index_.path, ": two fields are called ", printable(names[f]));
      }
      fields[f].name = std::move(names[f]);
    }
    return Status::ok();
  }

  bool compressed_within() const { return level_ == "batch" || level_ == "sample"; }

  // chunk-0-0.zstd.bin holds what chunk-0-0.bin would; the sizes are of that.
  void name_uncompressed() {
    if (compression_.empty()) return;
    for (ShardEntry& chunk : index_.chunks) {
      if (level_ == "batch") chunk.unpack = unpack_litdata_batches;
      if (level_ == "sample") chunk.unpack = unpack_litdata_items;
      if (compressed_within()) continue;
      const std::string part = "." + compression_;
      const size_t at = chunk.name.rfind(part);
      if (at == std::string::npos) continue;
      chunk.compressed = chunk.name;
      chunk.codec = compression_;
      chunk.name.erase(at, part.size());
    }
  }

  JsonReader json_;
  const OpenContext& context_;
  std::string compression_, level_, spec_, item_loader_;
  bool encrypted_ = false;
  LitdataIndex index_;
};

}  // namespace

Result<LitdataIndex> read_litdata_index(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const ShardIndexText index, read_shard_index(path, context));
  return LitdataIndexParser(path, index.text, context).parse();
}

}  // namespace dataline
