"""Describes the content of the portable archive: NOTICE, the licences of the libraries, and dataline.spdx.json, an SPDX 2.3 document.

  describe.py LIBRARIES PREFIX VERSION ARCH SECONDS    LIBRARIES as libraries.sh makes it; SECONDS since 1970, the document's time

Both go to PREFIX/share/doc/dataline. SPDX-License-Identifier: Apache-2.0
"""

import datetime
import hashlib
import json
import pathlib
import sys
import urllib.parse
import uuid

# What is taken of each, under which of its licences, and where it comes from. A library that is not here is refused.
INSIDE = {
    "highway": ("vector instructions; headers that are compiled in", "Apache-2.0", "https://github.com/google/highway"),
    "libdeflate": ("reads .gz", "MIT", "https://github.com/ebiggers/libdeflate"),
    "libjpeg-turbo": ("decodes JPEG", "IJG AND BSD-3-Clause AND Zlib", "https://libjpeg-turbo.org"),
    "libspng": ("decodes PNG", "BSD-2-Clause", "https://libspng.org"),
    "libstdc++": ("the run-time library of C++", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    "libwebp": ("decodes WebP", "BSD-3-Clause", "https://developers.google.com/speed/webp"),
    "libzstd": ("reads what Zstandard compressed", "BSD-3-Clause", "https://github.com/facebook/zstd"),
    "lz4": ("reads what LZ4 compressed", "BSD-2-Clause", "https://github.com/lz4/lz4"),
    "mimalloc": ("allocates descriptions and scratch", "MIT", "https://github.com/microsoft/mimalloc"),
    "zlib": ("part of reading PNG", "Zlib", "https://zlib.net"),
}
DEBIAN = "https://sources.debian.org/src"


def sources(libraries):
    """(name, version, archive, SHA-256) of each; the latter two are empty where the compiler brought it."""
    rows = [line.split("\t") for line in (libraries / "sources.tsv").read_text(encoding="utf-8").splitlines()]
    names = sorted(row[0] for row in rows)
    if names != sorted(INSIDE):
        sys.exit(f"describe.py: expected the libraries {sorted(INSIDE)}, got {names}")
    return sorted(rows)


def notice(libraries):
    parts = [
        "Dataline\nCopyright The Dataline developers\n\nLicensed under the Apache License, Version 2.0 (LICENSE).\n\n"
        "libdataline.so, libdataline.a and the program dataline hold code of these libraries. Their licences follow.\n"
    ]
    rows = sources(libraries)
    parts.append(
        "\n".join(f"  {name} {version}: {INSIDE[name][0]} ({INSIDE[name][1]}), {INSIDE[name][2]}" for name, version, _, _ in rows) + "\n"
    )
    for name, _, _, _ in rows:
        for path in sorted((libraries / "licences" / name).iterdir()):
            text = path.read_text(encoding="utf-8", errors="replace").strip("\n")
            parts.append(f"{'=' * 79}\n{name}: {path.name}\n{'=' * 79}\n\n{text}\n")
    return "\n".join(parts)


def package(name, version, licence, homepage, **more):
    return {
        "SPDXID": "SPDXRef-" + name.replace("+", "x"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": homepage,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        **more,
    }


def library(name, version, archive, digest):
    about, licence, homepage = INSIDE[name]
    source = "gcc-12" if name == "libstdc++" else name
    upstream = version.rsplit("-", 1)[0].split(":")[-1]
    purl = {
        "referenceCategory": "PACKAGE-MANAGER",
        "referenceType": "purl",
        "referenceLocator": f"pkg:deb/debian/{source}@{urllib.parse.quote(version)}?arch=source",
    }
    made = {"comment": f"As in Debian's source package {source} {version}: {about}.", "externalRefs": [purl]}
    if archive:
        made["downloadLocation"] = f"{DEBIAN}/{source}/{version.split(':')[-1]}/"
        made["packageFileName"] = archive
        made["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    return package(name, upstream, licence, homepage, **made)


def files(prefix):
    """The files that the libraries went into."""
    for path in [
        "bin/dataline",
        *sorted(str(one.relative_to(prefix)) for one in (prefix / "lib").glob("libdataline.*") if not one.is_symlink()),
    ]:
        data = (prefix / path).read_bytes()
        yield {
            "SPDXID": "SPDXRef-File-" + path.replace("/", "-"),
            "fileName": "./" + path,
            "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind.lower(), data).hexdigest()} for kind in ("SHA1", "SHA256")],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
        }


def document(libraries, prefix, version, arch, seconds):
    inside = [library(*row) for row in sources(libraries)]
    product = package("dataline", version, "Apache-2.0", "NONE", supplier="Organization: The Dataline developers")
    made = list(files(prefix))
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])]
    relations += [(product["SPDXID"], "CONTAINS", one["SPDXID"]) for one in inside]
    relations += [(one["SPDXID"], "GENERATED_FROM", product["SPDXID"]) for one in made]
    contents = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dataline-{version}-linux-{arch}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: The Dataline developers", "Tool: describe.py"],
        },
        "packages": [product, *inside],
        "files": made,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }
    # A name of its own for each content.
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(contents, sort_keys=True))
    contents["documentNamespace"] = f"https://spdx.org/spdxdocs/dataline-{version}-{unique}"
    return contents


def main():
    libraries, prefix = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    to = prefix / "share" / "doc" / "dataline"
    (to / "NOTICE").write_text(notice(libraries), encoding="utf-8")
    made = document(libraries, prefix, sys.argv[3], sys.argv[4], int(sys.argv[5]))
    (to / "dataline.spdx.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
