//! Mixes of datasets.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{Array, Code, Dataset, Loader, MixPart, MixStage, Options, Share};

fn numbers(count: i64) -> Dataset<'static> {
    let values: Vec<i64> = (0..count).collect();
    Dataset::from_arrays(&[Array::dense("x", &[values.len()], &values).unwrap()], &Options::new()).unwrap()
}

fn part<'d>(name: &'d str, dataset: &'d Dataset<'static>, share: Share) -> MixPart<'d, 'static> {
    MixPart { name, dataset, share, transform: "" }
}

#[test]
fn a_mix_draws_in_shares_and_names_part_and_index() {
    let (web, code) = (numbers(50), numbers(10));
    let parts = [part("web", &web, Share::Weight(3.0)), part("code", &code, Share::Weight(1.0))];
    let stages = [MixStage { step: 2, weights: vec![0.0, 1.0] }];
    let mix = Dataset::mix(&parts, &stages, Some(4096), &Options::new()).unwrap();
    let loader = Loader::new(&mix, &Options::new().set("batch_size", 2048).set("shuffle", "full")).unwrap();
    let mut drawn = [0, 0];
    for batch in (&loader).into_iter().take(2) {
        let batch = batch.unwrap();
        let rows: &[i64] = batch.view("x").unwrap();
        for ((source, index), row) in batch.sample_sources().iter().zip(batch.sample_indices()).zip(rows) {
            drawn[usize::try_from(*source).unwrap()] += 1;
            assert_eq!(row, index);
        }
    }
    assert_eq!(drawn, [3072, 1024]);
    let now = loader.parts().unwrap();
    assert_eq!((now[1].name.as_str(), now[1].samples, now[1].delivered), ("code", 10, 1024));
    assert_eq!((now[1].share_got, now[1].share_asked), (0.25, 1.0));
    assert!((now[1].epochs - 102.4).abs() < 1e-9);
    assert_eq!(mix.parts().unwrap()[0].share_asked, 0.75);
    assert!(web.parts().unwrap().is_empty());
}

#[test]
fn a_mix_by_repeats_has_each_sample_so_often() {
    let (two, three) = (numbers(2), numbers(3));
    let parts = [part("", &two, Share::Repeat(2.0)), part("", &three, Share::Repeat(1.0))];
    let mix = Dataset::mix(&parts, &[], None, &Options::new()).unwrap();
    drop((two, three));
    let loader = Loader::new(&mix, &Options::new().set("batch_size", 7)).unwrap();
    let batch = (&loader).into_iter().next().unwrap().unwrap();
    let rows: &[i64] = batch.view("x").unwrap();
    assert_eq!(rows, [0, 1, 0, 1, 0, 1, 2]);
    assert_eq!(mix.parts().unwrap()[0].name, "0");
    assert_eq!(mix.parts().unwrap()[0].repeat, 2.0);
}

#[test]
fn what_cannot_be_mixed_is_an_error() {
    let two = numbers(2);
    let none = Options::new();
    let one = |share| Dataset::mix(&[part("a", &two, share)], &[], None, &none).unwrap_err().code();
    assert_eq!(one(Share::Weight(f64::NAN)), Code::OutOfRange);
    assert_eq!(one(Share::Weight(0.0)), Code::OutOfRange);
    assert_eq!(Dataset::mix(&[], &[], None, &none).unwrap_err().code(), Code::InvalidArgument);
    let both = [part("a", &two, Share::Weight(1.0)), part("b", &two, Share::Repeat(1.0))];
    assert_eq!(Dataset::mix(&both, &[], None, &none).unwrap_err().code(), Code::InvalidArgument);
    let stage = [MixStage { step: 1, weights: vec![] }];
    let short = Dataset::mix(&[part("a", &two, Share::Weight(1.0))], &stage, None, &none).unwrap_err();
    assert_eq!(short.code(), Code::InvalidArgument);
}

#[test]
fn the_documents_that_a_mix_draws_are_packed() {
    let (tokens, offsets): ([u16; 6], [i64; 4]) = ([1, 2, 3, 4, 5, 6], [0, 3, 5, 6]);
    let documents = || {
        let ids = Array::ragged("ids", &tokens, &[], &offsets).unwrap();
        Dataset::from_arrays(&[ids], &Options::new()).unwrap()
    };
    let (web, code) = (documents(), documents());
    let parts = [part("web", &web, Share::Repeat(1.0)), part("code", &code, Share::Repeat(2.0))];
    let packed = Dataset::mix(&parts, &[], None, &Options::new().set("pack_length", 6)).unwrap();
    assert_eq!(packed.len(), Some(3)); // 9 documents of 18 tokens
    assert!(packed.parts().unwrap().is_empty(), "rows are of several parts");
    let told = "as one epoch draws them: 9 (web 3, code 6)";
    assert!(packed.notes().iter().any(|note| note.contains(told)), "{:?}", packed.notes());
    let row = packed.read(0, &Options::new()).unwrap();
    assert_eq!(row.view::<u16>("x").unwrap().len(), 6);
    let bad = Dataset::mix(&parts, &[], None, &Options::new().set("pack_window", 6)).unwrap_err();
    assert_eq!(bad.code(), Code::BadOption);
}

/// Two images of `side` x `side`, whose pixels count from `first`.
fn images(side: usize, first: u8) -> Dataset<'static> {
    let pixels: Vec<u8> = (first..).take(2 * side * side).collect();
    let array = Array::dense("image", &[2, side, side], &pixels).unwrap().with_axes("HW").unwrap();
    Dataset::from_arrays(&[array], &Options::new()).unwrap()
}

fn rows(dataset: &Dataset<'static>, transform: &str) -> Vec<u8> {
    let options = Options::new().set("batch_size", 4).set("transform", transform);
    let loader = Loader::new(dataset, &options).unwrap();
    let batch = (&loader).into_iter().next().unwrap().unwrap();
    let rows: &[u8] = batch.view("image").unwrap();
    rows.to_vec()
}

#[test]
fn parts_of_different_shapes_become_alike_by_transforms_of_their_own() {
    let (two, three) = (images(2, 1), images(3, 101));
    let mixed = |first, second| {
        let parts = [
            MixPart { transform: first, ..part("two", &two, Share::Repeat(1.0)) },
            MixPart { transform: second, ..part("three", &three, Share::Repeat(1.0)) },
        ];
        Dataset::mix(&parts, &[], None, &Options::new())
    };
    let sizes = mixed("", "").unwrap();
    let refused = Loader::new(&sizes, &Options::new().set("batch_size", 2));
    assert_eq!(refused.unwrap_err().code(), Code::Mismatch);
    let mix = mixed("", "resize([2, 2])").unwrap();
    let described: Vec<_> = mix.parts().unwrap().into_iter().map(|part| part.transform).collect();
    assert_eq!(described, ["", "resize([2, 2])"]);
    let alone = [rows(&two, "hflip(1)"), rows(&three, "resize([2, 2]), hflip(1)")].concat();
    assert_eq!(rows(&mix, "hflip(1)"), alone);
    let wrong = mixed("shrink(2)", "resize([2, 2])").unwrap_err();
    assert_eq!(wrong.code(), Code::BadTransform);
    assert!(wrong.message().contains("part two"), "{}", wrong.message());
    assert_eq!(mixed("cast(u8)\0", "").unwrap_err().code(), Code::InvalidArgument);
}
