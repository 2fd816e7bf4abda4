"""URIs as seeds.

SPDX-License-Identifier: Apache-2.0
"""

URIS = ["a.npy", "C:\\x", "npy:a.npy", "npy:image=a.npy,label=b.npy", "npy:a%2Cb.npy,c.npy?trailing=ignore&dtype=bf16",
        "raw:a.bin?dtype=u8&shape=3x32x32&header=16&partial=ignore", "raw:a?fields=label:u8,image:u8[3x32x32]",
        "tokens:a.bin?length=64&stride=32&views=true&dtype=u16", "folder:pets?labels=none&extensions=jpg,.PNG&allow_empty=true",
        "folder:pets?labels=list.csv&label_dtype=u8", "folder:pets?index=file", "tar:t-{000..127}.tar?fields=image,label&end=optional",
        "tar:t-{0..3}-{a..b}.tar", "tar:t-{3..0}.tar", "tar:t-%7B0..3%7D.tar", "jsonl:t-{0..3}.jsonl?fields=text:text,m/a:f32[2x3],ids:i64[]&nulls=fill(-1)", "csv:t-{0..3}.csv?fields=p0:u8[28x28],t:text&delimiter=tab&header=false&nulls=fill(0)", "tfrecord:t.tfrecord-{0..3}-of-4?fields=a/b:i64[2x3],c:bytes,d&nulls=fill(-1.5)", "mds:dir?fields=image,label", "litdata:dir?fields=image,a/b&pack_length=8", "mnist:dir?split=test&label_dtype=u8", "cifar100:dir",
        "npy:image=a.npy,b.npy", "npy:a?x", "npy:a?=b", "npy:a?trailing=error&trailing=error", "npy:%", "npy:%zz", "npy:", "np:a", "x:y",
        "idx:a.gz?axes=HWC", "tar:x{00..99}{00..99}{00..99}{00..99}.tar", "npy:a/b=c/d.npy", "npy:=a", "tokens:a?length=0"]


def seeds():
    for at, uri in enumerate(URIS):
        yield f"uri-{at:02}", uri.encode()
