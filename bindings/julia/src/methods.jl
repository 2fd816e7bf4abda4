# The functions that are one call of the library.
#
# Generated from capi/api.json by capi/api/generate.py; do not edit.
#
# SPDX-License-Identifier: Apache-2.0

"""
    stats(loader)

Counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank in the epochs so far.

A named tuple:

| member | is |
|---|---|
| `num_workers` | workers in use; 0: the caller's thread |
| `batches` | batches delivered |
| `samples` | samples delivered, without pads |
| `bytes` | bytes delivered |
| `skipped` | bad samples that were skipped |
| `dropped` | slots dropped by `last_batch=drop` |
| `padded` | rows added by `last_batch=pad` |
| `replaced` | rows filled with a replacement sample |
| `bad` | distinct bad samples seen |
| `wait_ns` | time that consumers waited in `next!`; 0 with `num_workers=0` |
| `waits` | calls of `next!` that had to wait |
| `worker_cpu_ns` | CPU time of worker threads; 0 with `num_workers=0` |
| `arena_bytes` | size of the slots; for rows without a fixed size, the part touched so far |
| `held_bytes` | all host memory that the loader holds now |
| `budget_bytes` | the memory limit in force |
| `leases_held` | batches held by consumers now |
| `lease_copies` | batches delivered as a new allocation, beyond the slots for leases |
| `ready_batches` | batches loaded, not yet delivered |
| `pinned_bytes` | page-locked memory; 0 if the system refused it (logged once) |
| `threads_abandoned` | workers abandoned in a host callback that did not return |
| `device_bytes` | device memory that the loader holds now |
| `copied_bytes` | bytes copied over the bus to the device |
| `warned` | images delivered although the decoder warned of damage (`on_warning=accept`) |
| `cache_read` | samples that the cache provided (option cache) |
| `cache_made` | samples that had to be processed; 0 without a cache |
"""
stats(loader::Loader) = read_record(dl_loader_stats, CStats, loader)

"""
    bad_samples(loader)

The bad samples found so far.

A vector of named tuples:

| member | is |
|---|---|
| `code` | the kind of error |
| `source` | the part of a mix that it belongs to; 0 without a mix |
| `index` | its index in that dataset |
| `epoch` | the epoch where it was found first |
| `step` | the step where it was found first |
| `slot` | the slot where it was found first |
| `replacement` | the replacement sample; `nothing`: skipped |
| `message` | where the sample is stored (file, member or record), then what is wrong |
"""
bad_samples(loader::Loader) = read_records(dl_loader_bad_sample_count, dl_loader_bad_sample_at, CBadSample, loader)

"""
    progress(opening)

The progress of an opening. All numbers only grow. The library lists files before it opens the first one, so totals grow as
well, but a total is never less than the part that is done. Log lines with `DL_LOG_PROGRESS` contain the same numbers.

Never blocks.

A named tuple:

| member | is |
|---|---|
| `done` | `fetch` would not wait |
| `files` | files opened so far |
| `total_files` | files of the URI; 0: not known yet |
| `bytes` | bytes read into memory (`io=memory`, .gz: as stored, then decompressed) or searched |
| `total_bytes` | size of the files that were started; 0: only headers are read |
| `entries` | entries found in folders, label files and tars |
"""
progress(opening::Opening) = read_record(dl_opening_progress, CProgress, opening)

"""
    stalls(metrics)

The stalls that are kept: the last 64.

A vector of named tuples:

| member | is |
|---|---|
| `epoch` | epoch of the batch that was delivered |
| `step` | step of that batch |
| `wait_ns` | duration of the call |
| `cause` | What the workers spent that time on, as `dl_metric.part`; \"leases\": the consumer held `max_leases` batches. |
"""
stalls(metrics::Metrics) = read_records(dl_metrics_stall_count, dl_metrics_stall_at, CStall, metrics)

"""
    set_workers!(loader, count)

Sets the number of active workers: 1 to `tuned(loader).most_workers`. Other workers finish the rows that they are loading and
then sleep. This ends tuning. Never blocks for long.

Throws `Dataline.ERR_OUT_OF_RANGE`, `Dataline.ERR_WRONG_STATE` (created with `num_workers=0`), `Dataline.ERR_FORKED`.
"""
set_workers!(loader::Loader, count::Integer) =
    calling((handle, error) -> dl_loader_set_workers(handle, Int64(count), error), loader)

"""
    tuned(loader)

The workers and the depth in use, and what tuning does or would do.

A named tuple:

| member | is |
|---|---|
| `mode` | the option `tune` |
| `num_workers` | active workers, perhaps only as a trial; 0: the caller's thread |
| `prefetch_depth` | the depth in use |
| `most_workers` | memory is planned for this many workers |
| `most_depth` | memory is planned for this depth |
| `wanted_workers` | the best number so far; with `:watch`, the number to try next |
| `wanted_depth` | the best depth so far; with `:watch`, the depth to try next |
| `changes` | how often the setting changed so far |
| `frozen` | nothing is tried now |
| `batches_per_s` | Batches consumed per second, in the last complete measurement. Before that 0, as is `wait_share`. |
| `wait_share` | share of that time in which the consumer waited, 0 to 1 |
| `text` | what tuning does, and why |
"""
tuned(loader::Loader) = read_record(dl_loader_tuned, CTuned, loader)

"""
    parts(dataset)

The parts of a mix; none for other datasets.

A vector of named tuples:

| member | is |
|---|---|
| `name` | name in the mix |
| `uri` | dataset: as in the recipe, or as its dataset was opened |
| `samples` | the sample count of the part |
| `delivered` | loader: samples delivered to this rank since create, without pads |
| `repeat` | dataset: its repeat; 0: it has a weight |
| `epochs` | Loader: how many passes over the part the job has made at its position, over all ranks. |
| `share_asked` | the requested share of the samples drawn now; dataset: at the start of a job |
| `share_got` | loader: the share of what was delivered |
| `transform` | dataset: the part's own transform, \"\" for none |
"""
parts(dataset::Dataset) = read_records(dl_dataset_part_count, dl_dataset_part_at, CPart, dataset)

"""
    parts(loader)

The parts of the mix that a loader delivers; none for other datasets.

A vector of named tuples:

| member | is |
|---|---|
| `name` | name in the mix |
| `uri` | dataset: as in the recipe, or as its dataset was opened |
| `samples` | the sample count of the part |
| `delivered` | loader: samples delivered to this rank since create, without pads |
| `repeat` | dataset: its repeat; 0: it has a weight |
| `epochs` | Loader: how many passes over the part the job has made at its position, over all ranks. |
| `share_asked` | the requested share of the samples drawn now; dataset: at the start of a job |
| `share_got` | loader: the share of what was delivered |
| `transform` | dataset: the part's own transform, \"\" for none |
"""
parts(loader::Loader) = read_records(dl_loader_part_count, dl_loader_part_at, CPart, loader)

"""
    finish(writer)

Ends the last shard and renames the set to PATH. Nothing can be appended afterwards.

Throws `Dataline.ERR_EMPTY` (no rows), `Dataline.ERR_WRONG_STATE` (already finished), and errors of files.
"""
finish(writer::Writer) =
    calling((handle, error) -> dl_writer_finish(handle, error), writer)

"""
    info(writer)

The progress of a writer.

Throws `Dataline.ERR_INVALID_ARGUMENT`.

A named tuple:

| member | is |
|---|---|
| `samples` | samples appended, including those present at create |
| `resumed_samples` | samples present at create |
| `shards` | finished shards |
| `bytes` | size of the finished shards |
"""
info(writer::Writer) = read_record(dl_writer_get_info, CWriterInfo, writer)
