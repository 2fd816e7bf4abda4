"""cat against PyTorch: its samplers' indices give its batches, and its arithmetic gives the converted bytes.

Only with `ctest -C long` (tests/run.sh --long installs PyTorch first). Skips where no Python has PyTorch.

SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

import shell
from shell import ShellTest, indices_of

REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
INSTALLED = os.path.join(REPOSITORY, "build", "peers", "torch", "bin", "python")

try:
    import numpy
    import torch
    from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, SequentialSampler, TensorDataset
except ImportError:
    if os.path.exists(INSTALLED) and "DATALINE_TEST_PYTHON" not in os.environ:
        os.execve(INSTALLED, [INSTALLED, *sys.argv], {**os.environ, "DATALINE_TEST_PYTHON": "tried"})
    print("skipped: PyTorch is not installed for any Python here (bench/peers/setup.sh torch)")
    sys.exit(77)


class AgainstPyTorch(ShellTest):
    def setUp(self):
        super().setUp()
        generator = torch.Generator().manual_seed(11)
        self.images = torch.randint(0, 256, (103, 3, 5, 4), dtype=torch.uint8, generator=generator)
        self.labels = torch.arange(103)
        numpy.save(self.path("image.npy"), self.images.numpy())
        numpy.save(self.path("label.npy"), self.labels.numpy())
        self.uri = "npy:image=image.npy,label=label.npy"

    def cat(self, *words):
        return self.ok("cat", *words)

    def check_loader(self, sampler, batch_size, drop_last):
        """Both fields of every batch, and where the batches begin and end."""
        numpy.save(self.path("order.npy"), numpy.array(list(sampler), dtype=numpy.int64))
        fixed = [int(i) for i in numpy.load(self.path("order.npy"))]
        loader = DataLoader(TensorDataset(self.images, self.labels), batch_size=batch_size, sampler=fixed, drop_last=drop_last)
        words = ["--sample_indices", "order.npy", "--batch_size", batch_size, f"--drop_last={str(drop_last).lower()}"]
        batches = list(loader)
        self.assertEqual(self.cat(self.uri, "--field", "image", *words), b"".join(x.numpy().tobytes() for x, _ in batches))
        self.assertEqual(self.cat(self.uri, "--field", "label", *words), b"".join(y.numpy().tobytes() for _, y in batches))
        for step in (0, len(batches) - 1):
            one = self.cat(self.uri, "--field", "label", *words, "--start_step", step, "--batches", 1)
            self.assertEqual(one, batches[step][1].numpy().tobytes(), f"step {step}")

    def test_a_random_samplers_indices_give_its_batches(self):
        for seed in (0, 7):
            for batch_size, drop_last in ((1, False), (10, False), (10, True), (103, True), (200, False)):
                with self.subTest(seed=seed, batch_size=batch_size, drop_last=drop_last):
                    sampler = RandomSampler(self.labels, generator=torch.Generator().manual_seed(seed))
                    self.check_loader(sampler, batch_size, drop_last)

    def test_with_replacement_and_fewer_samples(self):
        for count in (1, 50, 500):
            sampler = RandomSampler(self.labels, replacement=True, num_samples=count,
                                    generator=torch.Generator().manual_seed(3))
            self.check_loader(sampler, 16, False)

    def test_distributed_samplers_ranks(self):
        for rank in range(4):
            sampler = DistributedSampler(self.labels, num_replicas=4, rank=rank, shuffle=True, seed=5)
            sampler.set_epoch(2)
            self.check_loader(sampler, 8, False)

    def test_file_order_is_the_sequential_sampler(self):
        batches = DataLoader(TensorDataset(self.labels), batch_size=10, sampler=SequentialSampler(self.labels))
        self.assertEqual(self.cat("npy:label.npy", "--batch_size", 10), b"".join(x.numpy().tobytes() for x, in batches))

    def test_every_sample_once_an_epoch_as_shuffle_true_promises(self):
        indices = indices_of(self.cat("npy:label.npy", "--shuffle", "full", "--epochs", 3, "--indices"))
        for epoch in range(3):
            self.assertEqual(sorted(indices[epoch * 103:(epoch + 1) * 103]), self.labels.tolist())

    def converted(self, transform):
        return self.cat("npy:image.npy?axes=CHW", "--transform", transform)

    def test_casts_round_as_torch_does(self):
        values = torch.cat([torch.randn(2000, generator=torch.Generator().manual_seed(1)) * 10.0 ** e for e in (-7, -3, 0, 4)])
        values = torch.cat([values, torch.tensor([0.0, -0.0, 65504.0, 65519.9, 65520.0, -65520.0, 1e38, float("inf")])])
        numpy.save(self.path("f.npy"), values.numpy())
        for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16), ("f64", torch.float64)):
            wanted = values.to(dtype).view(torch.uint8).numpy().tobytes()
            self.assertEqual(self.cat("npy:f.npy", "--transform", f"cast({name})"), wanted, name)
        for name, dtype in (("f32", torch.float32), ("f16", torch.float16), ("i64", torch.int64), ("u16", None)):
            wanted = self.images.to(dtype).numpy() if dtype else self.images.numpy().astype("u2")
            self.assertEqual(self.converted(f"cast({name})"), wanted.tobytes(), name)

    def test_normalize_is_to_tensor_and_normalize(self):
        mean, std = (torch.tensor(v).view(3, 1, 1) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
        wanted = (self.images.to(torch.float32) / 255 - mean) / std
        for transform, dtype, within in (("normalize(imagenet)", "f4", 1e-6),
                                         ("normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]), cast(f16)", "f2", 2e-3)):
            got = numpy.frombuffer(self.converted(transform), dtype).reshape(wanted.shape)
            numpy.testing.assert_allclose(got, wanted.numpy(), rtol=within, atol=within, err_msg=transform)

    def test_layouts_labels_crops_and_pads(self):
        hwc = self.images.permute(0, 2, 3, 1).contiguous()
        self.assertEqual(self.converted("hwc"), hwc.numpy().tobytes())
        numpy.save(self.path("hwc.npy"), hwc.numpy())
        self.assertEqual(self.cat("npy:hwc.npy?axes=HWC", "--transform", "chw"), self.images.numpy().tobytes())
        self.assertEqual(self.converted("flatten"), self.images.flatten(1).numpy().tobytes())
        self.assertEqual(self.converted("center_crop(3)"), self.images[:, :, 1:4, 0:3].contiguous().numpy().tobytes())
        self.assertEqual(self.converted("hflip(1.0)"), self.images.flip(-1).numpy().tobytes())
        wanted = torch.nn.functional.one_hot(self.labels, 103).to(torch.float32)
        self.assertEqual(self.cat("npy:label.npy", "--transform", "one_hot(103)"), wanted.numpy().tobytes())
        rows = torch.arange(12, dtype=torch.int32).view(4, 3)
        numpy.save(self.path("rows.npy"), rows.numpy())
        wanted = torch.nn.functional.pad(rows, (0, 2), value=9)
        self.assertEqual(self.cat("npy:rows.npy", "--transform", "pad_to(5, value=9)"), wanted.numpy().tobytes())

    def test_a_random_crop_is_one_of_torchs_windows_of_the_padded_image(self):
        padded = torch.nn.functional.pad(self.images, (2, 2, 2, 2))
        got = torch.frombuffer(bytearray(self.converted("random_crop([5, 4], padding=2)")), dtype=torch.uint8).view(103, 3, 5, 4)
        seen = set()
        for i in range(103):
            places = [(y, x) for y in range(5) for x in range(5) if torch.equal(padded[i, :, y:y + 5, x:x + 4], got[i])]
            self.assertEqual(len(places), 1, f"sample {i}")
            seen.add(places[0])
        self.assertGreater(len(seen), 20, "all 25 places are drawn")


if __name__ == "__main__":
    shell.main()
