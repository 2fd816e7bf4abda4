//! A forked child: loaders refuse, datasets go on.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{epoch_of, loader_of, numbers};
use dataline::Code;

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

#[test]
fn in_a_forked_child_a_loader_says_so_and_a_dataset_works() {
    let dataset = numbers(10);
    let loader = loader_of(&dataset, &[("batch_size", "2"), ("num_workers", "1")]).unwrap();
    let held = loader.epoch().next().unwrap().unwrap();
    // SAFETY: the child only calls what is said to work in a child, and leaves without running the parent's exits.
    let process = unsafe { fork() };
    if process == 0 {
        let refused = matches!(loader.next(None), Err(error) if error.code() == Code::Forked);
        fn forked<T>(result: dataline::Result<T>) -> bool {
            result.map_or_else(|error| error.code() == Code::Forked, |_| false)
        }
        let asked = forked(loader.position())
            && forked(loader.stats())
            && forked(loader.save_state())
            && forked(loader.wait_handle())
            && forked(loader.seek(0, 0));
        loader.cancel_handle().cancel();
        let iterated = loader.epoch().next().map_or(false, |batch| batch.is_err());
        let kept = held.view::<i64>("x").map_or(false, |x| x == [0, 1]);
        drop(held);
        drop(loader);
        let own = loader_of(&dataset, &[("num_workers", "0"), ("epochs", "1")])
            .map_or(0, |own| epoch_of(&own).len());
        let wrong = [refused, asked, iterated, kept, own == 1].iter().position(|right| !right);
        // SAFETY: ends the child.
        unsafe { _exit(wrong.map_or(0, |at| at as i32 + 1)) };
    }
    assert!(process > 0);
    let mut status = -1;
    // SAFETY: the child of this process.
    assert_eq!(unsafe { waitpid(process, &mut status, 0) }, process);
    assert_eq!(status, 0, "status {} << 8 names the check that failed", status >> 8);
    assert_eq!(loader.epoch().next().unwrap().unwrap().len(), 2, "the parent's loader goes on");
}
