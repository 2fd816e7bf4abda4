# The package itself: no ambiguities, docs for all, tidy sources, a README that runs.
#
# SPDX-License-Identifier: Apache-2.0

const PACKAGE = normpath(joinpath(@__DIR__, ".."))
const LINE_MAX = 130

@testset "no method is ambiguous, none has an unbound type" begin
    @test isempty(detect_ambiguities(Dataline, Base))
    @test isempty(detect_unbound_args(Dataline))
end

@testset "every name that users see has docs" begin
    documented = Set(binding.var for binding in keys(Base.Docs.meta(Dataline)))
    @test all(name -> name in documented, names(Dataline))
    readme = read(joinpath(PACKAGE, "README.md"), String)
    used = Set(Symbol(found[1]) for found in eachmatch(r"Dataline\.(?!jl\b)([A-Za-z_]+!?)", readme))
    @test all(name -> isdefined(Dataline, name) && name in documented, used)
    # And what the README names without the module's name.
    for name in (:Dataset, :Reader, :escape, :zipped, :concat, :subset, :describe, :options_table, :transforms_table, :Epoch,
        :next!, :info, :sample_indices, :sample_sources, :save_state, :load_state!, :seek!, :cancel, :interrupt, :stats,
        :bad_samples, :fields, :ahead, :dlpack, :DLPackTensor)
        @test name in documented && occursin(string(name), readme)
    end
end

@testset "sources are tidy" begin
    for folder in ("src", "ext", "test", joinpath("test", "processes"), "bench", "deps")
        for file in filter(endswith(".jl"), readdir(joinpath(PACKAGE, folder); join = true))
            lines = readlines(file)
            @test any(line -> occursin("SPDX-License-Identifier: Apache-2.0", line), lines)
            untidy = filter(k -> occursin(r"\s$|\t", lines[k]), eachindex(lines))
            generated = any(startswith("# Generated from "), lines) # a declaration a line, as many as the header has
            long = filter(k -> length(lines[k]) > LINE_MAX && !generated, eachindex(lines))
            @test (file, untidy, long) == (file, [], [])
            @test length(lines) <= 300 || generated
        end
    end
end

@testset "the code of the README runs" begin
    folder = mkpath(scratch_file("readme/data"))
    header(dims...) = reduce(vcat, [UInt8[0, 0, 8, length(dims)]; [reverse(reinterpret(UInt8, [UInt32(d)])) for d in dims]])
    write(joinpath(folder, "train-images-idx3-ubyte"), header(256, 28, 28), rand(UInt8, 256 * 784))
    write(joinpath(folder, "train-labels-idx1-ubyte"), header(256), rand(0x00:0x09, 256))
    readme = read(joinpath(PACKAGE, "README.md"), String)
    blocks = [found[1] for found in eachmatch(r"```julia\n(.*?)```"s, readme)]
    @test length(blocks) == 9
    filter!(block -> !occursin("Flux", block), blocks) # frameworks.jl runs it
    reader = Module(:Readme)
    steps = Ref(0)
    Core.eval(reader, :(train_step!(image, label) = ($steps[] += size(image) == (28, 28, 64) && length(label) == 64)))
    cd(dirname(folder)) do
        foreach(block -> include_string(reader, block, "README.md"), blocks)
    end
    @test steps[] == 4
    threaded = scratch_file("readme.jl")
    write(threaded, "using Dataline\n", filter(block -> occursin(r"Threads\.@spawn|ahead\(", block), blocks)...)
    @test isempty(read(`$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) -t 2 $threaded`, String))
end
