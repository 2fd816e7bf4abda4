// Decides where the rows of each field go: which storage of a slot (or of the device, io=device) a program writes, which
// storages fields share, and which part of the work a device does.
//
// Threads: at create only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/loader/pipeline.h"

namespace dataline {

// Fills the pipeline's passes, outputs, tails, routes and resident rows, and collects the storages and regions of a slot.
//
// Fields that read one column share its storage if nothing is done to them on the host and they are either delivered as
// views of it or overlap.
class PipelineBuilder {
 public:
  // With config.resident all rows are held on the device: every field needs a tail.
  PipelineBuilder(Pipeline& pipeline, const LoaderConfig& config, const Device& device)
      : pipeline_(pipeline), config_(config), device_(device) {}

  // With io=device kUnsupported names the field and why the device cannot hold it.
  Status add_fields(CompiledTransforms compiled);

  std::vector<Storage> storages;
  std::vector<Region> regions;

 private:
  // The storage of a whole column, and the first field that uses it.
  struct SharedColumn {
    int32_t storage = -1, field = -1;
  };

  const Schema& schema() const { return pipeline_.source->schema(); }
  const Program& keep(std::unique_ptr<const Program> program);
  Status check_resident(const std::vector<BatchMix>& mixes);
  Status lay_out_resident();
  Status refuse(size_t f, std::string_view why) const;
  bool is_whole_column(size_t f) const;

  int32_t add_slot_rows(const Program& program, const FieldPlace& place, bool whole_column);
  int32_t add_rows(const Program& program, const FieldPlace& place, bool whole_column);
  void share_column(size_t f, Route& route);
  void add_stored(size_t f, Route& route, DeviceTail& tail);

  void add_own(size_t f, Route& route);
  void add_shared(size_t f, Route& route);
  Status add_split(size_t f, DeviceSplit split, Route& route);
  Status add_whole(size_t f, Route& route);
  Status add_tail(size_t f, DeviceTail tail, Route& route);

  Pipeline& pipeline_;
  const LoaderConfig& config_;
  const Device& device_;
  std::vector<SharedColumn> columns_;
  std::vector<bool> overlapped_;  // by column
};

}  // namespace dataline
