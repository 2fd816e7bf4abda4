//! `rank=auto` and `world_size=auto`: the environment when the loader is made. One test, for the environment is the process's.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{launcher, Array, Code, Dataset, Loader, Next, Options};
use std::env;

fn stream(rank: &str, world_size: &str) -> dataline::Result<Vec<i64>> {
    let numbers: Vec<u8> = (0..30).collect();
    let dataset = Dataset::from_arrays(&[Array::dense("x", &[30], &numbers)?], &Options::new())?;
    let options = Options::new()
        .set("rank", rank)
        .set("world_size", world_size)
        .set("global_batch_size", 6)
        .set("shuffle", "full");
    let loader = Loader::new(&dataset, &options)?;
    let mut indices = Vec::new();
    while let Next::Batch(batch) = loader.next(None)? {
        indices.extend_from_slice(batch.sample_indices());
    }
    assert_eq!(options.get("rank")?, rank);
    Ok(indices)
}

#[test]
fn auto_is_what_the_launcher_says_when_the_loader_is_made() {
    for name in ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"] {
        env::remove_var(name);
    }
    assert_eq!(stream("auto", "auto").unwrap(), stream("0", "1").unwrap());
    env::set_var("RANK", "2");
    assert_eq!(launcher().unwrap_err().code(), Code::InvalidArgument);
    let error = stream("auto", "auto").unwrap_err();
    assert!(error.message().contains("RANK=2 is set, WORLD_SIZE is not"), "{error}");

    env::set_var("WORLD_SIZE", "3");
    let found = launcher().unwrap();
    assert_eq!((found.family, found.rank, found.world_size), ("torchrun", 2, Some(3)));
    assert_eq!((found.local_rank, found.local_world_size), (None, None));
    let expected = stream("2", "3").unwrap();
    assert_eq!(expected.len(), 10);
    assert_eq!(stream("auto", "auto").unwrap(), expected);
    assert_eq!(stream("auto", "3").unwrap(), expected);
}
