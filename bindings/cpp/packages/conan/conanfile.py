"""Conan 2 recipe of Dataline: one library, shared or static, with dataline.h and dataline.hpp.

In a checkout:

  conan create bindings/cpp/packages/conan                                      libraries of the system; nothing is fetched
  conan create bindings/cpp/packages/conan -o "dataline/*:dependencies=conan"   libraries from Conan's servers
  conan create bindings/cpp/packages/conan -o "dataline/*:with_jpeg=False"      without one of them

The targets are those of find_package without Conan: dataline::dataline and dataline::cpp. The interface is C: C++ standards and
standard libraries of the host do not matter.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt, Dnf

required_conan_version = ">=2.0"

# option: (requirement by ConanCenter's name, what our CMake calls it, -l name, packages of Debian and Fedora)
LIBRARIES = {
    "with_highway": ("highway/[>=1.0.3 <2]", "HIGHWAY", None, "libhwy-dev", "highway-devel"),
    "with_jpeg": ("libjpeg-turbo/[>=2.1.2 <4]", "LIBJPEG", "jpeg", "libjpeg62-turbo-dev", "libjpeg-turbo-devel"),
    "with_png": ("libspng/[>=0.7 <1]", "LIBSPNG", "spng", "libspng-dev", "libspng-devel"),
    "with_webp": ("libwebp/[>=1.2 <2]", "LIBWEBP", "webp", "libwebp-dev", "libwebp-devel"),
    "with_deflate": ("libdeflate/[>=1.10 <2]", "LIBDEFLATE", "deflate", "libdeflate-dev", "libdeflate-devel"),
    "with_zstd": ("zstd/[>=1.5 <2]", "LIBZSTD", "zstd", "libzstd-dev", "libzstd-devel"),
    "with_lz4": ("lz4/[>=1.9 <2]", "LIBLZ4", "lz4", "liblz4-dev", "lz4-devel"),
    "with_mimalloc": ("mimalloc/[>=2.0 <3]", "MIMALLOC", "mimalloc", "libmimalloc-dev", "mimalloc-devel"),
}


class Dataline(ConanFile):
    name = "dataline"
    description = "Data-loading runtime for machine-learning training"
    license = "Apache-2.0"
    topics = ("machine-learning", "data-loading", "training", "dataset")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "tools": [True, False],  # the program dataline
        "dependencies": ["system", "conan"],  # whose libraries: as the system has them installed, or of requirements
        **{option: [True, False] for option in LIBRARIES},
    }
    # mimalloc is an allocator for scratch memory, little faster than malloc; a host may have one of its own.
    default_options = {"shared": True, "tools": False, "dependencies": "system", **dict.fromkeys(LIBRARIES, True), "with_mimalloc": False}

    @property
    def used(self):
        return [library for option, library in LIBRARIES.items() if self.options.get_safe(option)]

    def set_version(self):
        header = self.checkout() / "capi" / "dataline.h"
        if not self.version:
            text = header.read_text(encoding="utf-8")
            self.version = ".".join(re.search(rf"#define DL_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def checkout(self):
        return pathlib.Path(self.recipe_folder).parents[3]

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE", "core/*", "capi/*", "bindings/cpp/*", "bindings/cli/*"):
            copy(self, name, str(self.checkout()), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("this recipe is for Linux on x86_64 and armv8")
        if self.settings.compiler not in ("gcc", "clang"):
            raise ConanInvalidConfiguration("the library is built by gcc or clang")

    def requirements(self):
        if self.options.dependencies == "conan":
            for requirement, _, link, _, _ in self.used:
                self.requires(requirement, libs=link is not None)

    def system_requirements(self):
        if self.options.dependencies == "system":
            Apt(self).install([debian for _, _, _, debian, _ in self.used])
            Dnf(self).install([fedora for _, _, _, _, fedora in self.used])

    def package_id(self):
        self.info.settings.rm_safe("compiler.cppstd")
        if self.info.options.shared:
            self.info.settings.rm_safe("compiler.libcxx")

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "BENCH", "INSTALL"):
            toolchain.cache_variables[f"DATALINE_{name}"] = False
        toolchain.cache_variables["DATALINE_CLI"] = bool(self.options.tools)
        used = {name for _, name, _, _, _ in self.used}
        for _, name, _, _, _ in LIBRARIES.values():
            toolchain.cache_variables[f"DATALINE_WITH_{name}"] = "ON" if name in used else "OFF"
        if self.options.dependencies == "conan":
            for requirement, name, link, _, _ in self.used:
                self.point_to(toolchain, self.dependencies[requirement.split("/")[0]], name, link)
        toolchain.generate()

    @staticmethod
    def point_to(toolchain, dependency, name, link):
        """Where the headers and the library are; with a static one, what that needs in its turn."""
        toolchain.cache_variables[f"DATALINE_{name}_INCLUDE"] = dependency.cpp_info.aggregated_components().includedirs[0]
        if link is None:
            return
        files = []
        for one in [dependency, *dependency.dependencies.host.values()]:
            info = one.cpp_info.aggregated_components()
            for library in info.libs:
                found = [path for folder in info.libdirs for path in sorted(pathlib.Path(folder).glob(f"lib{library}.*"))]
                files += [str(found[0])] if found else [library]
            files += info.system_libs
        toolchain.cache_variables[f"DATALINE_{name}_LIBRARY"] = ";".join(files)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="dataline_shared" if self.options.shared else "dataline_static")
        if self.options.tools:
            cmake.build(target="dataline_cli")

    def package(self):
        build, source, into = self.build_folder, pathlib.Path(self.source_folder), pathlib.Path(self.package_folder)
        copy(self, "dataline.h", str(source / "capi"), str(into / "include"))
        copy(self, "*", str(source / "bindings" / "cpp" / "include"), str(into / "include"))
        copy(self, "LICENSE", str(source), str(into / "licenses"))
        copy(self, "libdataline.so*" if self.options.shared else "libdataline.a", f"{build}/lib", str(into / "lib"))
        if self.options.tools:
            copy(self, "dataline", f"{build}/bin", str(into / "bin"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "dataline")
        self.cpp_info.set_property("cmake_target_name", "dataline::all")
        self.cpp_info.set_property("pkg_config_name", "dataline-all")
        library = self.cpp_info.components["c"]
        library.set_property("cmake_target_name", "dataline::dataline")
        library.set_property("cmake_target_aliases", ["dataline::shared" if self.options.shared else "dataline::static"])
        library.set_property("pkg_config_name", "dataline")
        library.libs = ["dataline"]
        if self.options.dependencies == "conan":
            names = [requirement.split("/")[0] for requirement, _, _, _, _ in self.used]
            library.requires = [f"{name}::{name}" for name in names]
        if not self.options.shared:
            library.system_libs = [*self.linked_by_system(), "stdc++" if "stdc" in str(self.settings.compiler.libcxx) else "c++", "m", "pthread", "dl"]
        cpp = self.cpp_info.components["cpp"]
        cpp.set_property("cmake_target_name", "dataline::cpp")
        cpp.requires = ["c"]
        cpp.bindirs = cpp.libdirs = []

    def linked_by_system(self):
        # The static library is built without mimalloc where that is a shared library, as the system's is.
        if self.options.dependencies == "conan":
            return []
        return [link for _, name, link, _, _ in self.used if link and name != "MIMALLOC"]
