"""Other projects' test images against the Pillow of this machine, which should be the newest: whatever it shows, `decode`
shows with the same pixels, and what it refuses is refused, but for what foreign_images.txt lists, file by file, with a reason.

  foreign_images.py DECODE_IMAGES [--table]

The files come from package registries when the test runs, by their ordinary clients: Pillow's own from its source package,
libjpeg-turbo's from the crate turbojpeg-sys, image-rs' from the crate jpeg-decoder, PngSuite and Go's from the Go toolchain
that is installed and the module golang.org/x/image. DATALINE_FOREIGN_IMAGES=DIR adds a corpus for each folder of DIR (say
imagetestsuite, which no registry has). A corpus that cannot be had is skipped by name with its reason. --table prints the
result as the table that tests/results keeps. Skips (77) without Pillow, and where no corpus at all can be had.

A line of foreign_images.txt: CORPUS/FILE MODE KIND REASON, where MODE is rgb, gray, rgba or *, and KIND is `refused` (only
Pillow shows it), `taken` (only `decode` does) or `differs`. FILE may end in *. A line that nothing needs is an error.

SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import warnings

try:
    from PIL import Image, features
except ImportError:
    print("skipped: Pillow is not installed")
    sys.exit(77)

import pillow_oracle

HERE = pathlib.Path(__file__).resolve().parent
NAMES = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp")
MODES = {"rgb": "RGB", "gray": "L", "rgba": "RGBA"}
CRATES = {"libjpeg-turbo": ("turbojpeg-sys", "=1.2.0"), "image-rs": ("jpeg-decoder", "=0.3.2")}
GO_MODULE = "golang.org/x/image@v0.47.0"


class Missing(Exception):
    """A corpus that cannot be had here."""


def run(*command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, **options).stdout
    except FileNotFoundError as error:
        raise Missing(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise Missing(f"{' '.join(command[:3])}: {(error.stderr.strip() or 'failed').splitlines()[-1]}") from error
    except subprocess.TimeoutExpired as error:
        raise Missing(f"{' '.join(command[:3])} took more than ten minutes") from error


def pillow(folder):
    run(sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", str(folder),
        f"pillow=={Image.__version__}")
    archives = list(folder.glob("*.tar.gz"))
    if not archives:
        raise Missing("its source package was not found")
    with tarfile.open(archives[0]) as archive:
        for member in archive.getmembers():
            _, _, inside = member.name.partition("/Tests/images/")
            if inside and member.isfile() and inside.lower().endswith(NAMES):
                target = folder / "images" / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.extractfile(member).read())
    return folder / "images"


def crate(name):
    package, version = CRATES[name]

    def get(folder):
        (folder / "src").mkdir()
        (folder / "src" / "lib.rs").write_text("")
        (folder / "Cargo.toml").write_text('[package]\nname = "images"\nversion = "0.1.0"\nedition = "2021"\n'
                                           f'[dependencies]\n{package} = "{version}"\n')
        found = json.loads(run("cargo", "metadata", "--format-version", "1", cwd=folder))
        return next(pathlib.Path(one["manifest_path"]).parent for one in found["packages"] if one["name"] == package)

    return get


def pngsuite(_):
    images = pathlib.Path(run("go", "env", "GOROOT").strip(), "src", "image", "png", "testdata", "pngsuite")
    if not images.is_dir():
        raise Missing("this Go toolchain came without its tests")
    return images


def go_images(_):
    images = pathlib.Path(run("go", "env", "GOROOT").strip(), "src", "image", "testdata")
    if not images.is_dir():
        raise Missing("this Go toolchain came without its tests")
    return images


def go_module(folder):
    found = json.loads(run("go", "mod", "download", "-json", GO_MODULE, cwd=folder))
    return pathlib.Path(found["Dir"])


def corpora():
    yield "pillow", pillow
    for name in CRATES:
        yield name, crate(name)
    yield from (("pngsuite", pngsuite), ("go", go_images), ("x-image", go_module))
    extra = os.environ.get("DATALINE_FOREIGN_IMAGES")
    folders = sorted(one for one in pathlib.Path(extra).iterdir() if one.is_dir()) if extra else []
    for folder in folders:
        yield folder.name, lambda _, folder=folder: folder
    if "imagetestsuite" not in [folder.name for folder in folders]:
        yield "imagetestsuite", no_registry


def no_registry(_):
    raise Missing("no package registry has it: DATALINE_FOREIGN_IMAGES=DIR, with a folder of its name in DIR")


def shown(path, mode):
    """What Pillow makes of it: (size, pixels), or (None, why not)."""
    try:
        with Image.open(path, formats=("JPEG", "PNG", "WEBP")) as image:
            made = image.convert(MODES[mode])
            return made.size, made.tobytes()
    except Exception as error:  # noqa: BLE001: Pillow lets many kinds through
        return None, f"{type(error).__name__}: {error}"


def compare(decoder, path, mode):
    """(kind, detail) of a difference, or None."""
    size, want = shown(path, mode)
    shape, got = decoder.decode(path, mode)
    if size is None and shape is None:
        return None
    if size is None:
        return "taken", want
    if shape is None:
        return "refused", got
    if (shape[1], shape[0]) != size:
        return "differs", f"{shape[1]}x{shape[0]}, expected {size[0]}x{size[1]}"
    return None if got == want else ("differs", pillow_oracle.difference(got, want))


class Allowed:
    """The list of differences that are known, each with its reason."""

    def __init__(self, path):
        self.lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, mode, kind, reason = line.split(maxsplit=3)
                self.lines.append([name, mode, kind, reason, 0])

    def has(self, name, mode, kind):
        for line in self.lines:
            if fnmatch.fnmatchcase(name, line[0]) and line[1] in ("*", mode) and line[2] == kind:
                line[4] += 1
                return True
        return False

    def unused(self, corpus):
        return [line for line in self.lines if line[0].startswith(corpus + "/") and not line[4]]


def check(decoder, corpus, images, allowed):
    """Counts of one corpus: files, shown by both, refused by both, allowed, wrong."""
    paths = sorted(path for path in images.rglob("*") if path.is_file() and path.suffix.lower() in NAMES)
    counts = {"files": len(paths), "both show": 0, "both refuse": 0, "known to differ": 0, "wrong": 0}
    for path in paths:
        name = f"{corpus}/{path.relative_to(images).as_posix()}".replace(" ", "_")
        differences = []
        for mode in MODES:
            found = compare(decoder, path, mode)
            if found is None:
                continue
            known = allowed.has(name, mode, found[0])
            differences.append(known)
            if not known:
                print(f"  {name} {mode} {found[0]}: {found[1]}")
        if not differences:
            counts["both show" if shown(path, "rgb")[0] else "both refuse"] += 1
        else:
            counts["known to differ" if all(differences) else "wrong"] += 1
    for line in allowed.unused(corpus):
        print(f"  nothing needs: {' '.join(line[:4])}")
        counts["wrong"] += 1
    return counts


def main():
    warnings.simplefilter("ignore")
    decoder = pillow_oracle.Decoder(sys.argv[1])
    allowed = Allowed(HERE / "foreign_images.txt")
    title = (f"Pillow {Image.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}, "
             f"WebP {features.version('webp')}")
    print(title)
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for corpus, get in corpora():
            place = pathlib.Path(folder, corpus)
            place.mkdir()
            try:
                counts = check(decoder, corpus, get(place), allowed)
            except Missing as reason:
                print(f"{corpus}: skipped: {reason}")
                rows.append([corpus, f"skipped: {reason}"])
                continue
            print(f"{corpus}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
            rows.append([corpus, *map(str, counts.values())])
            wrong += counts["wrong"]
    if "--table" in sys.argv:
        print("\n| corpus | files | both show | both refuse | known to differ | wrong |\n|---|---|---|---|---|---|")
        for row in rows:
            print("| " + " | ".join(row + [""] * (6 - len(row))) + " |")
    if all(len(row) == 2 for row in rows):
        print("skipped: no corpus could be had")
        return 77
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
