// Mixes: made of datasets, and their parts as the dataset and its loaders describe them.
// SPDX-License-Identifier: Apache-2.0
#include "capi/create_dataset.h"
#include "capi/host_struct.h"

using namespace dataline;
using namespace dataline::capi;

extern "C" {

dl_status dl_dataset_mix(const dl_mix_part* parts, int32_t part_count, const dl_mix_stage* stages,
                         int32_t stage_count, int64_t samples_per_epoch, const dl_options* options,
                         dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(parts);
    if (part_count < 1)
      return dataline::error(Code::kInvalidArgument, "parts: expected at least one, got ", part_count);
    DL_RETURN_IF_ERROR(check_array(stages, stage_count, "stages"));
    MixRecipe recipe;
    std::vector<const Dataset*> datasets;
    for (int32_t i = 0; i < part_count; ++i) {
      DL_ASSIGN_OR_RETURN(const dl_mix_part part, read_element(parts, i));
      DL_RETURN_IF_ERROR(check_reserved<dl_mix_part>("reserved", part.reserved == 0));
      if (part.dataset == nullptr)
        return dataline::error(Code::kInvalidArgument, "dl_mix_part ", i, ": dataset is NULL");
      datasets.push_back(part.dataset->core.get());
      recipe.parts.push_back({.name = part.name != nullptr ? part.name : "",
                              .source = {},
                              .uri = {},
                              .weight = part.weight,
                              .repeat = part.repeat,
                              .transform = part.transform != nullptr ? part.transform : ""});
    }
    for (int32_t i = 0; i < stage_count; ++i) {
      DL_ASSIGN_OR_RETURN(const dl_mix_stage stage, read_element(stages, i));
      DL_RETURN_IF_ERROR(check_reserved<dl_mix_stage>("reserved", stage.reserved == 0));
      if (stage.weights == nullptr)
        return dataline::error(Code::kInvalidArgument, "dl_mix_stage ", i, ": weights is NULL");
      recipe.schedule.push_back({stage.step, {stage.weights, stage.weights + part_count}});
    }
    recipe.samples_per_epoch = samples_per_epoch;
    return Dataset::mix(datasets, std::move(recipe), options_or_default(options, Options()));
  });
}

int32_t dl_dataset_part_count(const dl_dataset* dataset) {
  const Mix* mix = dataset == nullptr ? nullptr : dataset->core->source()->facts().mix;
  return mix == nullptr ? 0 : static_cast<int32_t>(mix->part_count());
}

dl_status dl_dataset_part_at(const dl_dataset* dataset, int32_t index, dl_part* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(dataset);
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("part", index, dl_dataset_part_count(dataset)));
    const Mix& mix = *dataset->core->source()->facts().mix;
    dl_part part = {};
    part.name = mix.name(index).c_str();
    part.uri = mix.uri(index).c_str();
    part.samples = mix.samples(index);
    part.repeat = mix.by_repeats() ? mix.repeats()[static_cast<size_t>(index)] : 0;
    part.share_asked = mix.share(index);
    part.transform = mix.transform(index).c_str();
    return copy_struct(part, out);
  });
}

int32_t dl_loader_part_count(const dl_loader* loader) {
  return loader == nullptr ? 0 : static_cast<int32_t>(loader->core->part_count());
}

dl_status dl_loader_part_at(const dl_loader* loader, int32_t index, dl_part* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(const PartStats from, loader->core->part(index));
    dl_part part = {};
    part.name = from.name.data();
    part.samples = from.samples;
    part.delivered = from.delivered;
    part.epochs = from.epochs;
    part.share_asked = from.share_asked;
    part.share_got = from.share_got;
    return copy_struct(part, out);
  });
}

}  // extern "C"
