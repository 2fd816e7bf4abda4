# The recipe for BinaryBuilder agrees with CMake and with this package. BinaryBuilder itself cannot be had here: what the recipe
# says is caught by a stand-in with the names that it uses.
#
# SPDX-License-Identifier: Apache-2.0

const RECIPE = joinpath(@__DIR__, "..", "deps", "build_tarballs.jl")
const CHECKOUT = normpath(joinpath(@__DIR__, "..", "..", ".."))

const STAND_IN = """
    module BinaryBuilder
    struct GitSource; url::String; commit::String; end
    struct ArchiveSource; url::String; digest::String; end
    struct Platform; arch::String; os::String; libc::String; end
    Platform(arch, os; libc) = Platform(arch, os, libc)
    struct LibraryProduct; name::String; variable::Symbol; end
    struct Dependency; name::String; end
    const GIVEN = Ref{Any}()
    build_tarballs(arguments, name, version, sources, script, platforms, products, dependencies; settings...) =
        GIVEN[] = (name = name, version = version, sources = sources, script = script, platforms = platforms,
            products = products, dependencies = [d.name for d in dependencies], settings = (; settings...))
    export GitSource, ArchiveSource, Platform, LibraryProduct, Dependency, build_tarballs
    end
    """

# What the file calls build_tarballs with, as BinaryBuilder would see it.
function said_by(recipe)
    reader = Module(:Recipe)
    include_string(reader, STAND_IN)
    code = replace(read(recipe, String), "using BinaryBuilder\n" => "using .BinaryBuilder\n")
    withenv("DATALINE_COMMIT" => "0"^40) do
        Base.invokelatest(include_string, reader, code, recipe)
    end
    return Core.eval(reader, :(BinaryBuilder.GIVEN[]))
end

if isfile(RECIPE) && isfile(joinpath(CHECKOUT, "CMakeLists.txt"))
    const SAID = said_by(RECIPE)

    @testset "it is of this version, and makes the library that this package loads" begin
        cmake = read(joinpath(CHECKOUT, "CMakeLists.txt"), String)
        @test string(SAID.version) == match(r"project\(dataline VERSION ([0-9.]+)", cmake)[1]
        @test SAID.name == "dataline" && [p.name for p in SAID.products] == [first(split(Dataline.LIBRARY_NAME, '.'))]
        @test all(p -> p.os == "linux", SAID.platforms) && allunique([(p.arch, p.libc) for p in SAID.platforms])
        @test SAID.settings.preferred_gcc_version >= v"12" # C++20
    end

    @testset "sources are pinned, and the archives are those of the portable library" begin
        git, archives = SAID.sources[1], SAID.sources[2:end]
        @test git.url == "https://github.com/dataline/dataline.git" && git.commit == "0"^40
        @test all(source -> occursin(r"^[0-9a-f]{64}$", source.digest), archives)
        made = joinpath(CHECKOUT, "build", "portable", "libraries", "sources.tsv") # where the portable archive was built here
        known = isfile(made) ? Dict(Pair(split(line, '\t')[3:4]...) for line in eachline(made)) : Dict()
        for source in archives
            @test get(known, basename(source.url), source.digest) == source.digest
        end
    end

    @testset "each library that CMake knows is said, and comes from a dependency or a source" begin
        text = read(joinpath(CHECKOUT, "core", "cmake", "dataline_dependencies.cmake"), String)
        used = Set(m[1] for m in eachmatch(r"^\s*dataline_uses\((\w+)"m, text))
        delete!(used, "liburing") # of the benchmarks
        push!(used, "jpeg_huffman")
        for name in used
            @test occursin(Regex("-DDATALINE_WITH_$(uppercase(name))=(ON|OFF)\\b"), SAID.script)
        end
        from = Dict("libjpeg" => "JpegTurbo_jll", "libwebp" => "libwebp_jll", "libdeflate" => "libdeflate_jll",
            "libzstd" => "Zstd_jll", "liblz4" => "Lz4_jll",
            "libspng" => "Zlib_jll")
        on = Set(lowercase(m[1]) for m in eachmatch(r"-DDATALINE_WITH_(\w+)=ON", SAID.script))
        @test on == union(keys(from), ["highway"]) && Set(SAID.dependencies) == Set(values(from))
        for name in ("highway", "libspng") # by sources
            @test any(source -> occursin("/$(name)_", source.url), SAID.sources[2:end]) && occursin("/$name-*", SAID.script)
        end
    end

    @testset "the script is bash, and gives CMake options that it has" begin
        write(scratch_file("recipe.sh"), SAID.script)
        @test success(`bash -n $(scratch_file("recipe.sh"))`)
        cmake = join(read(path, String) for path in [joinpath(CHECKOUT, "CMakeLists.txt");
            filter(endswith(".cmake"), readdir(joinpath(CHECKOUT, "core", "cmake"); join = true))])
        for option in Set(m[1] for m in eachmatch(r"-D(DATALINE_\w+)=", SAID.script))
            part = match(r"^DATALINE_(?:WITH_)?(.*?)(?:_INCLUDE|_LIBRARY)?$", option)[1]
            @test occursin(Regex("\\b$option\\b"), cmake) || occursin("dataline_uses($(lowercase(part)) ", cmake)
        end
    end
else
    @info "left out: the recipe for BinaryBuilder, which needs the checkout"
end
