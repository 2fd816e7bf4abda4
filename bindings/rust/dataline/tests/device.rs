//! Batches in device memory, on the fake driver: what is refused, what a stream reads, what crosses the bus.
//!
//! SPDX-License-Identifier: Apache-2.0
#[path = "common/fake_cuda.rs"]
mod fake_cuda;

use dataline::{Array, Code, Dataset, Device, Error, Loader, Options, Result};
use fake_cuda::FakeCuda;

fn images() -> Dataset<'static> {
    let pixels: Vec<u8> = (0..100 * 18).map(|i| (i % 251) as u8).collect();
    let labels: Vec<i64> = (0..100).collect();
    let image = Array::dense("image", &[100, 2, 3, 3], &pixels).unwrap().with_axes("HWC").unwrap();
    Dataset::from_arrays(&[image, Array::dense("label", &[100], &labels).unwrap()], &Options::new()).unwrap()
}

fn job(options: Options) -> Loader<'static> {
    let transform = "image: normalize(mean=0.5, std=0.25), chw";
    let options = options.set("batch_size", 16).set("shuffle", "full").set("epochs", 1);
    Loader::new(&images(), &options.set("transform", transform)).unwrap()
}

fn refused<T>(result: Result<T>) {
    let error = result.err().expect("memory of a device was lent as the host's");
    assert_eq!(error.code(), Code::Unsupported);
    for part in ["field 'image'", "cuda:0", "Batch::wait", "device=cpu"] {
        assert!(error.message().contains(part), "{}", error.message());
    }
}

#[test]
fn a_tensor_names_its_device_and_refuses_the_host() {
    let fake = match FakeCuda::new() {
        Some(fake) => fake,
        None => return,
    };
    let loader = job(fake.options());
    assert_eq!(loader.device(), Device::Cuda(0));
    let batch = loader.epoch().next().unwrap().unwrap();
    let image = batch.tensor("image").unwrap();
    assert_eq!((image.device(), image.device().to_string()), (Device::Cuda(0), "cuda:0".to_owned()));
    refused(batch.view::<f32>("image"));
    refused(image.as_slice::<u8>());
    refused(image.span::<f32>());
    refused(image.bytes());
    refused(image.row::<f32>(0));
    refused(image.row_bytes(0));
    refused(image.rows::<f32>());
    assert_eq!(batch.sample_indices().len(), 16, "they stay on the host");
    let exported = batch.dlpack("image").unwrap();
    let device = &exported.tensor().device;
    assert_eq!((device.device_type, device.device_id), (2, 0));
    drop((exported, batch, loader));
    assert_eq!(fake.misuses(), [""; 0]);
}

#[test]
fn a_stream_that_waited_reads_what_the_cpu_delivers() {
    let fake = match FakeCuda::new() {
        Some(fake) => fake,
        None => return,
    };
    let (device, host) = (job(fake.options()), job(Options::new()));
    let stream = fake.stream();
    for (there, here) in device.epoch().zip(&host) {
        let (there, here) = (there.unwrap(), here.unwrap());
        // SAFETY: a stream that lives as long as the driver.
        unsafe { there.wait(stream) }.unwrap();
        for name in ["image", "label"] {
            let wanted = here.tensor(name).unwrap().bytes().unwrap();
            let got = fake.read(&there.tensor(name).unwrap(), wanted.len(), stream);
            assert!(got == wanted, "{name} of step {}", here.info().step);
        }
        // SAFETY: as above.
        unsafe { there.release_on(stream) }.unwrap();
    }
    let stats = device.stats().unwrap();
    assert_eq!((stats.batches, stats.leases_held), (7, 0));
    assert!(stats.device_bytes > 0 && stats.copied_bytes >= 100 * (18 + 8));
    drop(device);
    assert_eq!(fake.misuses(), [""; 0]);
}

#[test]
fn the_plan_says_where_each_part_runs() {
    let fake = match FakeCuda::new() {
        Some(fake) => fake,
        None => return,
    };
    let plan = job(fake.options()).plan().unwrap();
    let crossing: Option<u64> =
        plan.iter().filter(|stage| stage.crosses_bus()).map(|stage| stage.bytes_in).sum();
    // Without kernels what has to be computed is computed before the bus.
    let kernels = dataline::build_info().contains("cuda-kernels");
    assert_eq!(crossing, Some(if kernels { 18 } else { 72 } + 8));
    let work = plan.iter().find(|stage| stage.text == "normalize(mean=0.5, std=0.25), chw").unwrap();
    assert_eq!((work.field.as_str(), work.bytes_in, work.bytes_out), ("image", Some(18), Some(72)));
    assert_eq!(work.runs_on, if kernels { Device::Cuda(0) } else { Device::Cpu });
    assert!(job(Options::new()).plan().unwrap().iter().all(|stage| stage.runs_on == Device::Cpu));
}

#[test]
fn a_driver_that_is_not_there_is_an_error_of_the_device() {
    let options = Options::new().set("device", "cuda:0").set("cuda_library", "/nowhere/libcuda.so.1");
    let error = Loader::new(&images(), &options).expect_err("there is no such driver");
    assert!(matches!(error, Error::Device(_)) && error.code() == Code::NoDevice, "{error:?}");
    assert!(error.message().contains("/nowhere/libcuda.so.1"), "{error}");
}
