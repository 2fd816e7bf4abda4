"""folder: against torchvision's ImageFolder: the same files, in the same order, with the same labels and classes.

Skips where no Python has torchvision.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random
import re
import sys

import shell
from shell import ShellTest

INSTALLED = "/usr/bin/python3"  # where distributions put it

try:
    from torchvision.datasets.folder import IMG_EXTENSIONS, ImageFolder, make_dataset
except ImportError:
    if os.path.exists(INSTALLED) and "DATALINE_TEST_PYTHON" not in os.environ:
        os.execve(INSTALLED, [INSTALLED, *sys.argv], {**os.environ, "DATALINE_TEST_PYTHON": "tried"})
    print("skipped: torchvision is not installed for any Python here (apt: python3-torchvision)")
    sys.exit(77)

NAMES = [b"a", b"A", b"b", b"a-b", b"a.b", b"a b", b"a_b", b"10", b"9", b"0", b".hidden", b"..x", b"~", b"-", b"--help", b"\xc3\xa9",
         b"e\xcc\x81", b"\xe2\x82\xac", b"\xef\xbf\xbd", b"\xee\x80\x80", b"\xf0\x9f\x98\x80", b"\xff", b"\xe2\x82", b"\x80z", b"z\x80",
         b"n\nl", b"tab\t", b"q\"q", b"%41", b"a,b", b"x=y", b"a&b", b"?", b"\x7f", b"\x01"]
ENDINGS = [b".jpg", b".JPG", b".JpEg", b".jpeg", b".png", b".ppm", b".bmp", b".pgm", b".tif", b".tiff", b".webp", b".WEBP",
           b".gif", b".txt", b"", b".jpg ", b".jpg.bak", b"jpg", b".jpgx", b".tar.png"]


def plain(text):
    """As JSON has names: what is no UTF-8 becomes U+FFFD, once or for each byte."""
    return re.sub("\ufffd+", "\ufffd", os.fsencode(text).decode("utf-8", "replace"))


class AgainstImageFolder(ShellTest):
    def add(self, path):
        """A file that holds its own path and a line end: what cat prints is the list."""
        full = os.path.join(os.fsencode(self.folder), path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(path.replace(b"\n", b"\\n") + b"\n")

    def check_set(self, keys, samples, classes):
        """samples: (path, label) as torchvision gives them."""
        uri = f"folder:set{keys}"
        images = self.ok("cat", uri, "--field", "image").split(b"\n")[:-1]
        expected = []
        for path, _ in samples:
            with open(path, "rb") as file:
                expected.append(file.read()[:-1])
        self.assertEqual(images, expected)
        info = json.loads(self.ok("info", uri, "--json"))
        if classes is None:
            self.assertIsNone(info["classes"])
            return
        self.assertEqual([plain(name) for name in info["classes"]], [plain(name) for name in classes])
        labels = self.ok("cat", uri, "--field", "label")
        self.assertEqual(labels, b"".join(label.to_bytes(8, sys.byteorder) for _, label in samples))

    def seen(self, samples):
        """Those of torchvision's samples that have no hidden name below the set: the one difference."""
        below = len(self.path("set")) + 1
        return [sample for sample in samples if not any(part.startswith(".") for part in sample[0][below:].split("/"))]

    def check_folder(self):
        theirs = ImageFolder(self.path("set"))
        classes = [name for name in theirs.classes if not name.startswith(".")]
        number = {theirs.class_to_idx[name]: i for i, name in enumerate(classes)}
        samples = [(path, number[label]) for path, label in self.seen(theirs.samples)]
        self.check_set("?allow_empty=true", samples, classes)
        # Without labels: the rule of a class folder, for the folder itself.
        self.check_set("?labels=none", self.seen(make_dataset(self.path("."), {"set": 0}, IMG_EXTENSIONS)), None)

    def test_random_trees_of_awkward_names(self):
        pick = random.Random(5)
        for tree in range(12):
            self.setUp()
            for name in pick.sample(NAMES, 6):
                self.add(b"set/" + name + b"/0.jpg")  # torchvision refuses classes without files
                for _ in range(pick.randrange(1, 12)):
                    depth = pick.randrange(0, 4)
                    parts = [pick.choice(NAMES) for _ in range(depth)] + [pick.choice(NAMES) + pick.choice(ENDINGS)]
                    try:
                        self.add(b"set/" + name + b"/" + b"/".join(parts))
                    except (FileExistsError, IsADirectoryError, NotADirectoryError):
                        pass  # a directory of that name is there, or a file
            with self.subTest(tree=tree):
                self.check_folder()

    def test_directories_called_as_files_and_links(self):
        self.add(b"set/a/x.jpg/1.png")
        self.add(b"set/a/.jpg")
        self.add(b"set/b.jpg/2.png")
        self.add(b"set/3.png")
        self.add(b"far/4.jpg")
        self.add(b"far/deep/5.jpg")
        os.symlink("../../far", self.path("set/a/far"))
        os.symlink("../far/deep", self.path("set/linked"))
        os.symlink("../../far/4.jpg", self.path("set/a/0.jpg"))
        os.symlink("../../far", self.path("set/a/link.png"))  # a link to a directory is one, whatever it is called
        os.makedirs(self.path("set/a/empty"))
        self.check_folder()

    def test_many_files_in_many_directories(self):
        pick = random.Random(9)
        for _ in range(1500):
            self.add(b"set/%d/%d/%x.jpg" % (pick.randrange(40), pick.randrange(5), pick.randrange(1 << 40)))
        self.check_folder()
        self.assertEqual(self.ok("cat", "folder:set", "--field", "image"),
                         self.ok("cat", "folder:set?index=saved", "--field", "image"))
        self.assertEqual(self.ok("cat", "folder:set", "--field", "image"),
                         self.ok("cat", "folder:set?index=saved", "--field", "image"))

    def test_a_class_without_files_is_refused_by_both(self):
        self.add(b"set/a/1.jpg")
        self.add(b"set/b/1.txt")
        with self.assertRaises(FileNotFoundError):
            ImageFolder(self.path("set"))
        ran = self.run_shell("info", "folder:set")
        self.assertEqual(ran.status, 1)
        self.assertIn("in class b", ran.err)


if __name__ == "__main__":
    shell.main()
