# Where the library is found: what was told, the package's artifact, and what comes after.
#
# SPDX-License-Identifier: Apache-2.0
import Pkg
using Pkg.Artifacts: bind_artifact!, create_artifact

const HERE = @static VERSION >= v"1.6" ? Base.BinaryPlatforms.Platform("x86_64", "linux"; libc = "glibc") :
    Pkg.BinaryPlatforms.Linux(:x86_64; libc = :glibc)
const ELSEWHERE = @static VERSION >= v"1.6" ? Base.BinaryPlatforms.Platform("armv7l", "linux"; libc = "musl") :
    Pkg.BinaryPlatforms.Linux(:armv7l; libc = :musl)

# In a depot of its own.
function with_depot(call)
    before = copy(DEPOT_PATH)
    depot = mktempdir()
    pushfirst!(DEPOT_PATH, depot)
    try
        call(depot)
    finally
        append!(empty!(DEPOT_PATH), before)
        Pkg.Artifacts.load_overrides(force = true)
    end
end

make(content) = create_artifact() do folder
    write(joinpath(mkpath(joinpath(folder, "lib")), Dataline.LIBRARY_NAME), content)
end

@testset "the folder that was told comes first, also where it is wrong" begin
    withenv("DATALINE_LIB_DIR" => "/no/such/folder") do
        @test Dataline.find_library() == (owner = "DATALINE_LIB_DIR", path = "/no/such/folder/$(Dataline.LIBRARY_NAME)")
    end
    @test map(first, Dataline.PLACES) ==
          ("DATALINE_LIB_DIR", "the package's artifact", "Pkg.build", "the system", "the checkout's build/release")
end

@testset "an artifact is found where it is bound, installed and of this platform" begin
    with_depot() do depot
        table = joinpath(depot, "Artifacts.toml")
        @test Dataline.in_artifact(table) === nothing # no table
        digest = make("a library")
        bind_artifact!(table, "dataline", digest; platform = ELSEWHERE)
        @test Dataline.in_artifact(table) === nothing
        bind_artifact!(table, "dataline", digest; platform = HERE)
        path = Dataline.in_artifact(table)
        @test path == joinpath(depot, "artifacts", bytes2hex(digest.bytes), "lib", Dataline.LIBRARY_NAME)
        @test read(path, String) == "a library"
        rm(dirname(dirname(path)); recursive = true)
        @test Dataline.in_artifact(table) === nothing # bound, but not installed
    end
end

@testset "an Overrides.toml names another folder" begin
    with_depot() do depot
        table = joinpath(depot, "Artifacts.toml")
        bind_artifact!(table, "dataline", make("a library"); platform = HERE)
        other = mkpath(joinpath(depot, "other"))
        write(joinpath(depot, "artifacts", "Overrides.toml"), "[$(Base.PkgId(Dataline).uuid)]\ndataline = \"$other\"\n")
        Pkg.Artifacts.load_overrides(force = true)
        @test Dataline.in_artifact(table) == joinpath(other, "lib", Dataline.LIBRARY_NAME)
    end
end

@testset "the system's library is known by the number of the ABI" begin
    @test Dataline.SYSTEM_NAME == "libdataline.so.$(Dataline.DL_ABI_VERSION)"
    header = normpath(joinpath(@__DIR__, "..", "..", "..", "capi", "dataline.h"))
    isfile(header) && @test occursin("#define DL_ABI_VERSION $(Dataline.DL_ABI_VERSION)\n", read(header, String))
end
