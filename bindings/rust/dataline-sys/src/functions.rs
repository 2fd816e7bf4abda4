//! The functions of the header.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::check::Function;
use crate::{
    dl_allocator, dl_loader, dl_log, dl_option_info, dl_options, dl_reader, dl_release, dl_stats, dl_status,
};
use crate::{
    dl_argument_info, dl_array, dl_bad_sample, dl_batch, dl_batch_info, dl_cancel_token, dl_dataset, dl_error,
};
use crate::{
    dl_image_info, dl_plan_stage, dl_transform_info, dl_view, DLManagedTensor, DLManagedTensorVersioned,
};
use std::os::raw::{c_char, c_void};

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        extern "C" {
            $($(#[$doc])* pub fn $name($($argument: $type),*) $(-> $result)?;)*
        }

        #[doc(hidden)]
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            arguments: &[$(stringify!($type)),*],
            result: concat!($(stringify!($result))?),
            address: || $name as *const () as usize,
        }),*];
    };
}

functions! {
    fn dl_version_number() -> i32;
    fn dl_version_string() -> *const c_char;
    fn dl_abi_version() -> i32;
    fn dl_build_info() -> *const c_char;
    fn dl_status_name(status: dl_status) -> *const c_char;
    fn dl_error_init(error: *mut dl_error, struct_size: u32);
    fn dl_options_create(out: *mut *mut dl_options, error: *mut dl_error) -> dl_status;
    fn dl_options_destroy(options: *mut dl_options);
    fn dl_options_set(
        options: *mut dl_options, key: *const c_char, value: *const c_char, error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_set_i64(
        options: *mut dl_options, key: *const c_char, value: i64, error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_set_indices(
        options: *mut dl_options, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_set_weights(
        options: *mut dl_options, weights: *const f64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_set_allocator(
        options: *mut dl_options, allocator: *const dl_allocator, error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_set_log(options: *mut dl_options, log: *const dl_log, error: *mut dl_error) -> dl_status;
    fn dl_options_set_cancel_token(
        options: *mut dl_options, token: *mut dl_cancel_token, error: *mut dl_error,
    ) -> dl_status;
    fn dl_options_get(
        options: *const dl_options, key: *const c_char, out: *mut *const c_char, error: *mut dl_error,
    ) -> dl_status;
    fn dl_option_count() -> i32;
    fn dl_option_at(index: i32, out: *mut dl_option_info, error: *mut dl_error) -> dl_status;
    fn dl_transform_count() -> i32;
    fn dl_transform_at(index: i32, out: *mut dl_transform_info, error: *mut dl_error) -> dl_status;
    fn dl_transform_argument_at(
        index: i32, argument: i32, out: *mut dl_argument_info, error: *mut dl_error,
    ) -> dl_status;
    fn dl_cancel_token_create(out: *mut *mut dl_cancel_token, error: *mut dl_error) -> dl_status;
    fn dl_cancel_token_cancel(token: *mut dl_cancel_token);
    fn dl_cancel_token_destroy(token: *mut dl_cancel_token);
    fn dl_dtype_name(dtype: i32) -> *const c_char;
    fn dl_dtype_bytes(dtype: i32) -> i32;
    fn dl_dtype_from_name(name: *const c_char) -> i32;
    fn dl_dataset_open(
        uri: *const c_char, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_from_arrays(
        arrays: *const dl_array, count: i32, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_from_reader(
        reader: *const dl_reader, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_zip(
        parts: *const *mut dl_dataset, names: *const *const c_char, count: i32, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_concat(
        parts: *const *mut dl_dataset, count: i32, options: *const dl_options, out: *mut *mut dl_dataset,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_subset(
        dataset: *mut dl_dataset, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_count(dataset: *const dl_dataset) -> i64;
    fn dl_dataset_fields(dataset: *const dl_dataset, count: *mut i32) -> *const dl_view;
    fn dl_dataset_format(dataset: *const dl_dataset) -> *const c_char;
    fn dl_dataset_uri(dataset: *const dl_dataset) -> *const c_char;
    fn dl_dataset_note_count(dataset: *const dl_dataset) -> i32;
    fn dl_dataset_note(dataset: *const dl_dataset, index: i32) -> *const c_char;
    fn dl_dataset_class_count(dataset: *const dl_dataset) -> i64;
    fn dl_dataset_class_name(dataset: *const dl_dataset, index: i64) -> *const c_char;
    fn dl_dataset_image_info(
        dataset: *const dl_dataset, field: *const c_char, index: i64, out: *mut dl_image_info, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_read(
        dataset: *const dl_dataset, index: i64, options: *const dl_options, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;
    fn dl_dataset_destroy(dataset: *mut dl_dataset);
    fn dl_loader_create(
        dataset: *mut dl_dataset, options: *const dl_options, out: *mut *mut dl_loader, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_next(
        loader: *mut dl_loader, timeout_ns: i64, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_work(loader: *mut dl_loader, budget_ns: i64, error: *mut dl_error) -> dl_status;
    fn dl_loader_begin_epoch(loader: *mut dl_loader, error: *mut dl_error) -> dl_status;
    fn dl_loader_position(
        loader: *const dl_loader, epoch: *mut i64, step: *mut i64, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_seek(loader: *mut dl_loader, epoch: i64, step: i64, error: *mut dl_error) -> dl_status;
    fn dl_loader_steps(loader: *const dl_loader) -> i64;
    fn dl_loader_set_indices(
        loader: *mut dl_loader, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_state_save(
        loader: *const dl_loader, text: *mut c_char, bytes: *mut usize, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_state_load(loader: *mut dl_loader, text: *const c_char, error: *mut dl_error) -> dl_status;
    fn dl_loader_cancel(loader: *mut dl_loader);
    fn dl_loader_interrupt(loader: *mut dl_loader);
    fn dl_loader_wait_handle(loader: *mut dl_loader, out: *mut isize, error: *mut dl_error) -> dl_status;
    fn dl_loader_fields(loader: *const dl_loader, count: *mut i32) -> *const dl_view;
    fn dl_loader_pixel_scale(
        loader: *const dl_loader, field: i32, channel: i64, scale: *mut f64, offset: *mut f64,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_plan_count(loader: *const dl_loader) -> i32;
    fn dl_loader_plan_at(
        loader: *const dl_loader, index: i32, out: *mut dl_plan_stage, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_stats(loader: *const dl_loader, out: *mut dl_stats, error: *mut dl_error) -> dl_status;
    fn dl_loader_bad_sample_count(loader: *const dl_loader) -> i64;
    fn dl_loader_bad_sample_at(
        loader: *const dl_loader, index: i64, out: *mut dl_bad_sample, error: *mut dl_error,
    ) -> dl_status;
    fn dl_loader_destroy(loader: *mut dl_loader);
    fn dl_batch_views(batch: *const dl_batch, count: *mut i32) -> *const dl_view;
    fn dl_batch_get_info(batch: *const dl_batch, out: *mut dl_batch_info, error: *mut dl_error) -> dl_status;
    fn dl_batch_retain(batch: *mut dl_batch);
    fn dl_batch_release(batch: *mut dl_batch);
    fn dl_batch_wait(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;
    fn dl_batch_release_on(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;
    fn dl_batch_dlpack(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensor, error: *mut dl_error,
    ) -> dl_status;
    fn dl_batch_dlpack_versioned(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensorVersioned, error: *mut dl_error,
    ) -> dl_status;
}
