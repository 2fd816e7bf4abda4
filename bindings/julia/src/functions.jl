# The functions of dataline.h, in its order.
#
# Generated from capi/api.json by capi/api/generate.py; do not edit.
#
# SPDX-License-Identifier: Apache-2.0

@declare dl_version_number()::Int32
@declare dl_version_string()::Ptr{UInt8}
@declare dl_abi_version()::Int32
@declare dl_build_info()::Ptr{UInt8}

@declare dl_status_name(status::Int32)::Ptr{UInt8}
@declare dl_error_init(error::Ptr{CError}, struct_size::UInt32)::Cvoid

@declare dl_options_create(out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_options_destroy(options::Handle)::Cvoid
@declare dl_options_copy(options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_options_set(options::Handle, key::Cstring, value::Cstring, error::Ptr{CError})::Int32
@declare dl_options_set_i64(options::Handle, key::Cstring, value::Int64, error::Ptr{CError})::Int32
@declare dl_options_set_indices(options::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_options_set_weights(options::Handle, weights::Ptr{Float64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_options_set_lengths(options::Handle, lengths::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_options_set_allocator(options::Handle, allocator::Ptr{CAllocator}, error::Ptr{CError})::Int32
@declare dl_options_set_log(options::Handle, log::Ptr{CLog}, error::Ptr{CError})::Int32
@declare dl_options_set_cancel_token(options::Handle, token::Handle, error::Ptr{CError})::Int32
@declare dl_options_set_environment(options::Handle, environment::Ptr{Ptr{UInt8}}, error::Ptr{CError})::Int32
@declare dl_options_get(options::Handle, key::Cstring, out::Ptr{Ptr{UInt8}}, error::Ptr{CError})::Int32
@declare dl_launcher_detect(environment::Ptr{Ptr{UInt8}}, out::Ptr{CLauncher}, error::Ptr{CError})::Int32
@declare dl_option_count()::Int32
@declare dl_option_at(index::Int32, out::Ptr{COptionInfo}, error::Ptr{CError})::Int32
@declare dl_transform_count(extensions::Handle)::Int32
@declare dl_transform_at(extensions::Handle, index::Int32, out::Ptr{CTransformInfo}, error::Ptr{CError})::Int32
@declare dl_transform_argument_at(extensions::Handle, index::Int32, argument::Int32, out::Ptr{CArgumentInfo}, error::Ptr{CError})::Int32
@declare dl_cancel_token_create(out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_cancel_token_cancel(token::Handle)::Cvoid
@declare dl_cancel_token_destroy(token::Handle)::Cvoid

@declare dl_dtype_name(dtype::Int32)::Ptr{UInt8}
@declare dl_dtype_bytes(dtype::Int32)::Int32
@declare dl_dtype_from_name(name::Cstring)::Int32

@declare dl_dataset_open(uri::Cstring, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_from_arrays(arrays::Ptr{CArray}, count::Int32, release::Ptr{Cvoid}, context::Ptr{Cvoid}, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_from_arrow(stream::Handle, keys::Cstring, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_from_arrow_array(schema::Handle, array::Handle, keys::Cstring, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_from_reader(reader::Ptr{CReader}, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_zip(parts::Ptr{Handle}, names::Ptr{Ptr{UInt8}}, count::Int32, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_concat(parts::Ptr{Handle}, count::Int32, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_subset(dataset::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_count(dataset::Handle)::Int64
@declare dl_dataset_fields(dataset::Handle, count::Ptr{Int32})::Ptr{CView}
@declare dl_dataset_format(dataset::Handle)::Ptr{UInt8}
@declare dl_dataset_uri(dataset::Handle)::Ptr{UInt8}
@declare dl_dataset_note_count(dataset::Handle)::Int32
@declare dl_dataset_note(dataset::Handle, index::Int32)::Ptr{UInt8}
@declare dl_dataset_class_count(dataset::Handle)::Int64
@declare dl_dataset_class_name(dataset::Handle, index::Int64)::Ptr{UInt8}
@declare dl_dataset_read(dataset::Handle, index::Int64, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_destroy(dataset::Handle)::Cvoid

@declare dl_loader_create(dataset::Handle, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_loader_next(loader::Handle, timeout_ns::Int64, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_loader_work(loader::Handle, budget_ns::Int64, error::Ptr{CError})::Int32
@declare dl_loader_epoch(loader::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_loader_stream(loader::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_epoch_next(epoch::Handle, timeout_ns::Int64, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_epoch_interrupt(epoch::Handle)::Cvoid
@declare dl_epoch_release(epoch::Handle)::Cvoid
@declare dl_loader_begin_epoch(loader::Handle, error::Ptr{CError})::Int32
@declare dl_loader_position(loader::Handle, epoch::Ptr{Int64}, step::Ptr{Int64}, error::Ptr{CError})::Int32
@declare dl_loader_seek(loader::Handle, epoch::Int64, step::Int64, error::Ptr{CError})::Int32
@declare dl_loader_steps(loader::Handle)::Int64
@declare dl_loader_set_indices(loader::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_loader_state_save(loader::Handle, text::Ptr{UInt8}, bytes::Ptr{Csize_t}, error::Ptr{CError})::Int32
@declare dl_loader_state_load(loader::Handle, text::Cstring, error::Ptr{CError})::Int32
@declare dl_loader_cancel(loader::Handle)::Cvoid
@declare dl_loader_interrupt(loader::Handle)::Cvoid
@declare dl_loader_wait_handle(loader::Handle, out::Ptr{Int}, error::Ptr{CError})::Int32
@declare dl_loader_fields(loader::Handle, count::Ptr{Int32})::Ptr{CView}
@declare dl_loader_stats(loader::Handle, out::Ptr{CStats}, error::Ptr{CError})::Int32
@declare dl_loader_bad_sample_count(loader::Handle)::Int64
@declare dl_loader_bad_sample_at(loader::Handle, index::Int64, out::Ptr{CBadSample}, error::Ptr{CError})::Int32
@declare dl_loader_destroy(loader::Handle)::Cvoid

@declare dl_batch_views(batch::Handle, count::Ptr{Int32})::Ptr{CView}
@declare dl_batch_get_info(batch::Handle, out::Ptr{CBatchInfo}, error::Ptr{CError})::Int32
@declare dl_batch_retain(batch::Handle)::Cvoid
@declare dl_batch_release(batch::Handle)::Cvoid
@declare dl_batch_wait(batch::Handle, stream::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_batch_release_on(batch::Handle, stream::Ptr{Cvoid}, error::Ptr{CError})::Int32
@declare dl_batch_dlpack(batch::Handle, field::Int32, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_batch_dlpack_versioned(batch::Handle, field::Int32, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_batch_arrow(batch::Handle, schema::Handle, array::Handle, error::Ptr{CError})::Int32

@declare dl_dataset_open_async(uri::Cstring, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_opening_wait(opening::Handle, timeout_ns::Int64, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_opening_wait_handle(opening::Handle, out::Ptr{Int}, error::Ptr{CError})::Int32
@declare dl_opening_progress(opening::Handle, out::Ptr{CProgress}, error::Ptr{CError})::Int32
@declare dl_opening_cancel(opening::Handle)::Cvoid
@declare dl_opening_destroy(opening::Handle)::Cvoid
@declare dl_dataset_identity(dataset::Handle, text::Ptr{UInt8}, bytes::Ptr{Csize_t}, error::Ptr{CError})::Int32
@declare dl_dataset_image_info(dataset::Handle, field::Cstring, index::Int64, out::Ptr{CImageInfo}, error::Ptr{CError})::Int32
@declare dl_loader_pixel_scale(loader::Handle, field::Int32, channel::Int64, scale::Ptr{Float64}, offset::Ptr{Float64}, error::Ptr{CError})::Int32
@declare dl_loader_plan_count(loader::Handle)::Int32
@declare dl_loader_plan_at(loader::Handle, index::Int32, out::Ptr{CPlanStage}, error::Ptr{CError})::Int32

@declare dl_loader_metrics(loader::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_metrics_destroy(metrics::Handle)::Cvoid
@declare dl_metrics_count(metrics::Handle)::Int64
@declare dl_metrics_at(metrics::Handle, index::Int64, out::Ptr{CMetric}, error::Ptr{CError})::Int32
@declare dl_metrics_text(metrics::Handle, labels::Cstring, text::Ptr{UInt8}, bytes::Ptr{Csize_t}, error::Ptr{CError})::Int32
@declare dl_metrics_stall_count(metrics::Handle)::Int64
@declare dl_metrics_stall_at(metrics::Handle, index::Int64, out::Ptr{CStall}, error::Ptr{CError})::Int32
@declare dl_loader_trace_start(loader::Handle, path::Cstring, sink::Ptr{CTraceSink}, error::Ptr{CError})::Int32
@declare dl_loader_trace_stop(loader::Handle, error::Ptr{CError})::Int32

@declare dl_loader_set_workers(loader::Handle, count::Int64, error::Ptr{CError})::Int32
@declare dl_loader_tuned(loader::Handle, out::Ptr{CTuned}, error::Ptr{CError})::Int32

@declare dl_dataset_mix(parts::Ptr{CMixPart}, part_count::Int32, stages::Ptr{CMixStage}, stage_count::Int32, samples_per_epoch::Int64, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_dataset_part_count(dataset::Handle)::Int32
@declare dl_dataset_part_at(dataset::Handle, index::Int32, out::Ptr{CPart}, error::Ptr{CError})::Int32
@declare dl_loader_part_count(loader::Handle)::Int32
@declare dl_loader_part_at(loader::Handle, index::Int32, out::Ptr{CPart}, error::Ptr{CError})::Int32

@declare dl_writer_create(uri::Cstring, fields::Ptr{CView}, field_count::Int32, job::Cstring, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_writer_append(writer::Handle, arrays::Ptr{CArray}, count::Int32, position::Cstring, error::Ptr{CError})::Int32
@declare dl_writer_finish(writer::Handle, error::Ptr{CError})::Int32
@declare dl_writer_get_info(writer::Handle, out::Ptr{CWriterInfo}, error::Ptr{CError})::Int32
@declare dl_writer_position(writer::Handle)::Ptr{UInt8}
@declare dl_writer_destroy(writer::Handle)::Cvoid
@declare dl_writer_format_count()::Int32
@declare dl_writer_format_name(index::Int32)::Ptr{UInt8}
@declare dl_writer_format_doc(index::Int32)::Ptr{UInt8}

@declare dl_extensions_create(out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_extensions_destroy(extensions::Handle)::Cvoid
@declare dl_options_set_extensions(options::Handle, extensions::Handle, error::Ptr{CError})::Int32
@declare dl_error_set(error::Ptr{CError}, code::Int32, message::Cstring)::Int32
@declare dl_file_open(path::Cstring, options::Handle, out::Ptr{Handle}, error::Ptr{CError})::Int32
@declare dl_file_bytes(file::Handle)::Int64
@declare dl_file_read(file::Handle, offset::Int64, bytes::Int64, out::Ptr{Cvoid}, cancelled::Ptr{Int32}, error::Ptr{CError})::Int32
@declare dl_file_destroy(file::Handle)::Cvoid
@declare dl_extensions_add_format(extensions::Handle, format::Ptr{CFormat}, error::Ptr{CError})::Int32
@declare dl_extensions_add_operator(extensions::Handle, table::Ptr{COperator}, error::Ptr{CError})::Int32
@declare dl_operator_random(row::Ptr{COperatorRow}, number::Int64)::UInt64
@declare dl_extensions_add_storage(extensions::Handle, storage::Ptr{CStorage}, error::Ptr{CError})::Int32
@declare dl_extensions_set_threads(extensions::Handle, threads::Ptr{CThreads}, error::Ptr{CError})::Int32
@declare dl_extensions_load(extensions::Handle, path::Cstring, error::Ptr{CError})::Int32
@declare dl_format_count(extensions::Handle)::Int32
@declare dl_format_at(extensions::Handle, index::Int32, out::Ptr{CFormatInfo}, error::Ptr{CError})::Int32
@declare dl_format_key_at(extensions::Handle, index::Int32, key::Int32, out::Ptr{CFormatKey}, error::Ptr{CError})::Int32
@declare dl_storage_count(extensions::Handle)::Int32
@declare dl_storage_at(extensions::Handle, index::Int32, out::Ptr{CStorage}, error::Ptr{CError})::Int32
