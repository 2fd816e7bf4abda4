# Builds libdataline for this package, in deps/usr, from the enclosing checkout: `Pkg.build("Dataline")`. Does nothing where
# something else has the library (src/finding.jl). CMake's own variables (CMAKE_CXX_COMPILER_LAUNCHER, CXX) hold; CMAKE_ARGS
# are further arguments, apart by spaces. Ninja where it is installed: CMake itself would take make, which need not be there.
#
# SPDX-License-Identifier: Apache-2.0
using Libdl: dlext, dlopen

include(joinpath("..", "src", "constants.jl"))
include(joinpath("..", "src", "finding.jl"))

function build(root, here)
    build_folder, prefix = joinpath(here, "build"), joinpath(here, "usr")
    left_out = ["-DDATALINE_$part=OFF" for part in ("TESTS", "EXAMPLES", "CLI", "BENCH")]
    configured = isfile(joinpath(build_folder, "CMakeCache.txt"))
    ninja = configured || haskey(ENV, "CMAKE_GENERATOR") || Sys.which("ninja") === nothing ? String[] : ["-G", "Ninja"]
    told = split(get(ENV, "CMAKE_ARGS", ""))
    run(`cmake -S $root -B $build_folder -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib
        -DCMAKE_INSTALL_PREFIX=$prefix $left_out $ninja $told`)
    run(`cmake --build $build_folder -j $(Sys.CPU_THREADS)`)
    run(`cmake --install $build_folder`)
    return nothing
end

function main()
    found = find_library()
    root = normpath(joinpath(PACKAGE, "..", ".."))
    if found !== nothing && found.owner != "Pkg.build"
        println("using the library of $(found.owner): $(found.path)")
    elseif isfile(joinpath(root, "capi", "dataline.h"))
        build(root, @__DIR__)
    elseif found === nothing
        error("there is no checkout around this package: install libdataline, or set DATALINE_LIB_DIR to its folder")
    end
end

main()
