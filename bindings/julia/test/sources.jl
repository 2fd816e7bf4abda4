# Datasets: files, Julia's arrays, and what is composed of them.
#
# SPDX-License-Identifier: Apache-2.0

@testset "a file by URI" begin
    uri = record_file("source.raw")
    Dataset(uri) do dataset
        @test length(dataset) == 1000 && Dataline.uri(dataset) == uri && Dataline.format(dataset) == "raw"
        @test Dataline.fields(dataset)[1].size == [16] && all(note -> note isa String, Dataline.notes(dataset))
        @test occursin("raw, 1000 samples", string(dataset))
    end
    @test reinterpret(UInt64, copy(first(Loader(uri; batch_size = 1)).data))[1] == 0
end

@testset "classes are the directories of a folder" begin
    folder = mkpath(scratch_file("classes"))
    for name in ("owl", "ant")
        write(joinpath(mkpath(joinpath(folder, name)), "1.jpg"), "x")
    end
    Dataset("folder:" * Dataline.escape(folder)) do dataset
        @test Dataline.classes(dataset) == ["ant", "owl"]
    end
    @test isempty(Dataline.classes(numbers(3)))
end

@testset "paths from elsewhere are escaped" begin
    folder = mkpath(scratch_file("a,b=c&d?e%f"))
    write(joinpath(folder, "x.raw"), UInt8[1, 2, 3])
    @test length(Dataset("raw:$(Dataline.escape(joinpath(folder, "x.raw")))?dtype=u8&shape=1")) == 3
end

@testset "arrays of every item type come back as they were" begin
    for T in (Bool, UInt8, UInt16, UInt32, UInt64, Int8, Int16, Int32, Int64, Float16, Float32, Float64, ComplexF32, ComplexF64)
        given = reshape([T(v % 2) for v in 1:12], 2, 2, 3)
        seen = first(Loader(given; batch_size = 3)).data
        @test seen == given && eltype(seen) == T
    end
end

@testset "one array, tuples and named tuples" begin
    names(source) = [field.name for field in Dataline.fields(Dataset(source))]
    @test names([1, 2]) == [:data] && names(([1], [2])) == [:data1, :data2] && names((x = [1], y = [2.0])) == [:x, :y]
    @test length(Dataset(Dataset([1, 2]))) == 2
end

@testset "parts of larger arrays are read where they lie" begin
    whole = reshape(collect(1:60), 5, 12)
    for part in (view(whole, :, 3:7), view(whole, 2:4, :), view(whole, 2:3, 1:2:11))
        @test first(Loader(part; batch_size = 12)).data == part
    end
    problem = thrown(() -> Dataset((rows = view(whole, 1:2:5, :),)))
    @test problem.code == Dataline.ERR_INVALID_ARGUMENT && occursin("rows", problem.message)
    @test code_of(() -> Dataset(fill(1))) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataset((x = 1:3,))) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataset((x = Any[1],))) == Dataline.ERR_UNSUPPORTED
end

@testset "mixes" begin
    web, code = numbers(50), numbers(10)
    mixed = Dataline.mix((web = web, code = code); weights = (3, 1), schedule = [2 => (0, 1)], samples_per_epoch = 4096)
    foreach(close, (web, code))
    loader = Loader(mixed; batch_size = 2048, shuffle = true)
    drawn = [0, 0]
    for (step, batch) in enumerate(loader)
        for source in Dataline.sample_sources(batch)
            drawn[source + 1] += 1
        end
        step == 2 && break
    end
    @test drawn == [3072, 1024]
    part = Dataline.parts(loader)[2]
    @test part.name == "code" && part.samples == 10 && part.delivered == 1024 && part.share_got == 0.25
    @test Dataline.parts(mixed)[1].share_asked == 0.75 && isempty(Dataline.parts(numbers(3)))
    twice = Dataline.mix((a = numbers(2), b = numbers(3)); repeats = (2, 1))
    @test Dataline.sample_indices(first(Loader(twice; batch_size = 7))) == [0, 1, 0, 1, 0, 1, 2]
    @test Dataline.parts(twice)[1].repeat == 2
    @test_throws ArgumentError Dataline.mix((a = numbers(2),))
    @test_throws ArgumentError Dataline.mix((a = numbers(2),); weights = (1, 2))
    @test code_of(() -> Dataline.mix((a = numbers(2),); weights = (0,))) == Dataline.ERR_OUT_OF_RANGE
end

@testset "the documents that a mix draws are packed" begin
    file = scratch_file("documents.bin")
    write(file, UInt16[1, 2, 9, 4, 9, 9]) # three documents of six tokens
    documents() = Dataset("tokens:$(Dataline.escape(file))?dtype=u16&documents=eot:9")
    parts = (web = documents(), code = documents())
    packed = Dataline.mix(parts; repeats = (1, 2), pack_length = 6)
    @test length(packed) == 3 # nine documents of eighteen tokens
    @test isempty(Dataline.parts(packed)) # rows are of several parts
    @test any(note -> occursin("as one epoch draws them: 9 (web 3, code 6)", note), Dataline.notes(packed))
    @test size(first(Loader(packed; batch_size = 3)).x) == (6, 3)
    @test code_of(() -> Dataline.mix(parts; repeats = (1, 2), pack_window = 6)) == Dataline.ERR_BAD_OPTION
end

@testset "parts of different shapes become alike by transforms of their own" begin
    pixels(side, first) = reshape(collect(UInt8, first:first+2side*side-1), side, side, 2)
    images(side, first) = Dataset((image = pixels(side, first),); axes = (image = "WH",))
    two, three = images(2, 1), images(3, 101)
    rows(set, transform) = copy(first(Loader(set; batch_size = 4, transform = transform)).image)
    mixed(; own...) = Dataline.mix((two = two, three = three); repeats = (1, 1), own...)
    @test code_of(() -> Loader(mixed(); batch_size = 2)) == Dataline.ERR_MISMATCH
    both = mixed(transforms = (three = "resize([2, 2])",))
    @test [part.transform for part in Dataline.parts(both)] == ["", "resize([2, 2])"]
    @test rows(both, "hflip(1)") == Base.cat(rows(two, "hflip(1)"), rows(three, "resize([2, 2]), hflip(1)"); dims = 3)
    wrong = thrown(() -> mixed(transforms = (two = "shrink(2)",)))
    @test wrong.code == Dataline.ERR_BAD_TRANSFORM && occursin("part two", wrong.message)
    @test_throws ArgumentError mixed(transforms = (four = "hflip",))
    @test_throws ArgumentError mixed(transforms = (three = "resize([2, 2])\0",))
end

@testset "zipped, concatenated, parts" begin
    four, six = numbers(4), numbers(6)
    joined = Dataline.concat(four, six)
    zipped = Dataline.zipped((a = joined, b = numbers(10)))
    @test length(zipped) == 10 && Dataline.format(zipped) == "zip" && Dataline.uri(zipped) == ""
    batch = first(Loader(zipped; batch_size = 10))
    @test batch.a == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5] && batch.b == 0:9
    @test keys(first(Loader(Dataline.zipped(Dataset((x = [1],)), Dataset((y = [2],)))))) == (:x, :y)
    foreach(close, (four, six, joined))
    @test first(Loader(zipped; batch_size = 2)).a == [0, 1] # it has its own references
    @test first(Loader(Dataline.subset(zipped, 7:-1:6))).b == [7, 6]
    @test first(Loader(Dataline.subset(zipped, Int32[1]))).b == [1]
    @test code_of(() -> Dataline.subset(zipped, [10])) == Dataline.ERR_OUT_OF_RANGE
    problem = thrown(() -> Dataline.zipped(numbers(3), numbers(5)))
    @test problem.code == Dataline.ERR_MISMATCH && occursin("3", problem.message) && occursin("5", problem.message)
end
