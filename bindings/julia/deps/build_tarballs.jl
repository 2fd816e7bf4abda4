# The recipe of dataline_jll for BinaryBuilder, in the form of Yggdrasil: the library for Linux with glibc or musl on x86-64 and
# aarch64, without kernels for GPUs. `julia build_tarballs.jl --help`, in an environment with BinaryBuilder.
#
# Sources: this checkout's commit, which has to be published; DATALINE_COMMIT names another. In Yggdrasil it stands here, as a
# text. Libraries that have no JLL are compiled in: Highway (headers) and libspng, as Debian has them.
#
# SPDX-License-Identifier: Apache-2.0
using BinaryBuilder

name = "dataline"
version = v"0.2.0"

commit = get(ENV, "DATALINE_COMMIT") do
    readchomp(`git -C $(@__DIR__) rev-parse HEAD`)
end
sources = [
    GitSource("https://github.com/dataline/dataline.git", commit),
    ArchiveSource("https://deb.debian.org/debian/pool/main/h/highway/highway_1.0.3.orig.tar.gz",
        "566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e"),
    ArchiveSource("https://deb.debian.org/debian/pool/main/libs/libspng/libspng_0.7.3.orig.tar.gz",
        "a50cadbe808ffda1a7fab17d145f52a23b163f34b3eb3696c7ecb5a52340fc1d"),
]

# libstdc++ is linked in: Julia's own may be older than the compiler's.
script = raw"""
cd $WORKSPACE/srcdir
highway=$(echo $PWD/highway-*) spng=$(echo $PWD/libspng-*)
cc -O2 -DNDEBUG -fPIC -fvisibility=hidden -I$includedir -c $spng/spng/spng.c -o $PWD/spng.o
ar rcs $PWD/libspng.a $PWD/spng.o

cmake -S dataline -B build -G Ninja -DCMAKE_INSTALL_PREFIX=$prefix -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_TOOLCHAIN_FILE=$CMAKE_TARGET_TOOLCHAIN -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_SHARED_LINKER_FLAGS="-static-libstdc++ -static-libgcc" \
    -DDATALINE_TESTS=OFF -DDATALINE_EXAMPLES=OFF -DDATALINE_BENCH=OFF -DDATALINE_CLI=OFF -DDATALINE_INSTALL_STATIC=OFF \
    -DDATALINE_WITH_HIGHWAY=ON -DDATALINE_HIGHWAY_INCLUDE=$highway \
    -DDATALINE_WITH_LIBSPNG=ON -DDATALINE_LIBSPNG_INCLUDE=$spng/spng -DDATALINE_LIBSPNG_LIBRARY="$PWD/libspng.a;$libdir/libz.so" \
    -DDATALINE_WITH_LIBJPEG=ON -DDATALINE_WITH_JPEG_HUFFMAN=OFF -DDATALINE_WITH_LIBWEBP=ON -DDATALINE_WITH_LIBDEFLATE=ON \
    -DDATALINE_WITH_LIBZSTD=ON -DDATALINE_WITH_LIBLZ4=ON \
    -DDATALINE_WITH_MIMALLOC=OFF -DDATALINE_WITH_CUDA=OFF
cmake --build build --parallel $nproc
cmake --install build
install_license dataline/LICENSE $highway/LICENSE $spng/LICENSE
"""

platforms = [Platform(arch, "linux"; libc = libc) for arch in ("x86_64", "aarch64") for libc in ("glibc", "musl")]

products = [LibraryProduct("libdataline", :libdataline)]

dependencies = [
    Dependency("JpegTurbo_jll"),
    Dependency("Lz4_jll"),
    Dependency("Zlib_jll"),
    Dependency("Zstd_jll"),
    Dependency("libdeflate_jll"),
    Dependency("libwebp_jll"),
]

build_tarballs(ARGS, name, version, sources, script, platforms, products, dependencies; julia_compat = "1.6",
    preferred_gcc_version = v"12")
