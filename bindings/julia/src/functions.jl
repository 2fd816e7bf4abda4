# The functions of dataline.h, in its order. Handles are Ptr{Cvoid}; `error` is a CError of the caller's.
#
# SPDX-License-Identifier: Apache-2.0

const Handle = Ptr{Cvoid}

@declare dl_version_number()::Int32
@declare dl_version_string()::Ptr{UInt8}
@declare dl_abi_version()::Int32
@declare dl_build_info()::Ptr{UInt8}
@declare dl_status_name(status::Int32)::Ptr{UInt8}
@declare dl_error_init(error::Ptr{UInt8}, struct_size::UInt32)::Cvoid

@declare dl_options_create(out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_options_destroy(options::Handle)::Cvoid
@declare dl_options_set(options::Handle, key::Cstring, value::Cstring, error::Ptr{UInt8})::Int32
@declare dl_options_set_indices(options::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{UInt8})::Int32
@declare dl_options_set_weights(options::Handle, weights::Ptr{Float64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{UInt8})::Int32
@declare dl_options_set_cancel_token(options::Handle, token::Handle, error::Ptr{UInt8})::Int32
@declare dl_options_get(options::Handle, key::Cstring, out::Ref{Ptr{UInt8}}, error::Ptr{UInt8})::Int32
@declare dl_option_count()::Int32
@declare dl_option_at(index::Int32, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_transform_count()::Int32
@declare dl_transform_at(index::Int32, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_transform_argument_at(index::Int32, argument::Int32, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32

@declare dl_cancel_token_create(out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_cancel_token_cancel(token::Handle)::Cvoid
@declare dl_cancel_token_destroy(token::Handle)::Cvoid

@declare dl_dtype_name(dtype::Int32)::Ptr{UInt8}
@declare dl_dtype_bytes(dtype::Int32)::Int32

@declare dl_dataset_open(uri::Cstring, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_from_arrays(arrays::Ptr{CArray}, count::Int32, release::Ptr{Cvoid}, context::Ptr{Cvoid}, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_from_reader(reader::Ref{CReader}, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_zip(parts::Ptr{Handle}, names::Ptr{Ptr{UInt8}}, count::Int32, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_concat(parts::Ptr{Handle}, count::Int32, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_subset(dataset::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_dataset_count(dataset::Handle)::Int64
@declare dl_dataset_fields(dataset::Handle, count::Ref{Int32})::Ptr{CView}
@declare dl_dataset_format(dataset::Handle)::Ptr{UInt8}
@declare dl_dataset_uri(dataset::Handle)::Ptr{UInt8}
@declare dl_dataset_note_count(dataset::Handle)::Int32
@declare dl_dataset_note(dataset::Handle, index::Int32)::Ptr{UInt8}
@declare dl_dataset_class_count(dataset::Handle)::Int64
@declare dl_dataset_class_name(dataset::Handle, index::Int64)::Ptr{UInt8}
@declare dl_dataset_image_info(dataset::Handle, field::Ptr{UInt8}, index::Int64, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_dataset_destroy(dataset::Handle)::Cvoid

@declare dl_loader_create(dataset::Handle, options::Handle, out::Ref{Handle}, error::Ptr{UInt8})::Int32
@declare dl_loader_next(loader::Handle, timeout_ns::Int64, out::Ptr{Handle}, error::Ptr{UInt8})::Int32
@declare dl_loader_begin_epoch(loader::Handle, error::Ptr{UInt8})::Int32
@declare dl_loader_position(loader::Handle, epoch::Ref{Int64}, step::Ref{Int64}, error::Ptr{UInt8})::Int32
@declare dl_loader_seek(loader::Handle, epoch::Int64, step::Int64, error::Ptr{UInt8})::Int32
@declare dl_loader_steps(loader::Handle)::Int64
@declare dl_loader_set_indices(loader::Handle, indices::Ptr{Int64}, count::Int64, release::Ptr{Cvoid}, context::Ptr{Cvoid}, error::Ptr{UInt8})::Int32
@declare dl_loader_state_save(loader::Handle, text::Ptr{UInt8}, bytes::Ref{Csize_t}, error::Ptr{UInt8})::Int32
@declare dl_loader_state_load(loader::Handle, text::Cstring, error::Ptr{UInt8})::Int32
@declare dl_loader_cancel(loader::Handle)::Cvoid
@declare dl_loader_interrupt(loader::Handle)::Cvoid
@declare dl_loader_wait_handle(loader::Handle, out::Ref{Int}, error::Ptr{UInt8})::Int32
@declare dl_loader_fields(loader::Handle, count::Ref{Int32})::Ptr{CView}
@declare dl_loader_pixel_scale(loader::Handle, field::Int32, channel::Int64, scale::Ref{Float64}, offset::Ref{Float64}, error::Ptr{UInt8})::Int32
@declare dl_loader_plan_count(loader::Handle)::Int32
@declare dl_loader_plan_at(loader::Handle, index::Int32, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_loader_stats(loader::Handle, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_loader_bad_sample_count(loader::Handle)::Int64
@declare dl_loader_bad_sample_at(loader::Handle, index::Int64, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_loader_destroy(loader::Handle)::Cvoid

@declare dl_batch_views(batch::Handle, count::Ptr{Int32})::Ptr{CView}
@declare dl_batch_get_info(batch::Handle, out::Ptr{UInt8}, error::Ptr{UInt8})::Int32
@declare dl_batch_retain(batch::Handle)::Cvoid
@declare dl_batch_release(batch::Handle)::Cvoid
@declare dl_batch_wait(batch::Handle, stream::Ptr{Cvoid}, error::Ptr{UInt8})::Int32
@declare dl_batch_release_on(batch::Handle, stream::Ptr{Cvoid}, error::Ptr{UInt8})::Int32
