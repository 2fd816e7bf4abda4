"""torchvision's v2 transforms on decoded pictures, as u8 tensors whose memory is HWC: what its resize is fastest at.
SPDX-License-Identifier: Apache-2.0
"""
import torch
import torchvision
from torchvision.transforms import v2

from contender import main
from pass_pixels import variant
from photos import DEVIATION, MEAN, SIDE

torch.set_num_threads(1)
TRANSFORM = v2.Compose([v2.Resize((SIDE, SIDE), antialias=True), v2.RandomHorizontalFlip(1.0),
                        v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION, inplace=True)])


def fill(picture, out):
    torch.from_numpy(out).copy_(TRANSFORM(torch.from_numpy(picture).permute(2, 0, 1)))


def fused_pass(settings):
    return [variant("torchvision v2", settings, fill)]


if __name__ == "__main__":
    main({"fused_pass": fused_pass}, {"torch": torch.__version__, "torchvision": torchvision.__version__})
