# Records read by Julia code.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Reader

@testset "a reader gives numbers, arrays and rows of any length" begin
    function read(i)
        return (label = i % 10, image = fill(UInt8(i), 2, 3), text = codeunits("ab"^i), points = fill(Float32(i), 2, i))
    end
    reader = Reader(read, 5; label = Int64, image = (UInt8, 2, 3), text = Ragged{UInt8}, points = (Ragged{Float32}, 2))
    loader = Loader(reader; num_workers = 0, batch_size = 5)
    @test [(f.name, f.size, f.ragged) for f in Dataline.fields(loader)] ==
          [(:label, [-1], false), (:image, [2, 3, -1], false), (:text, [-1], true), (:points, [2, -1], true)]
    batch = first(loader)
    @test batch.label == 0:4 && batch.image[:, :, 5] == fill(4, 2, 3) && String.(batch.text) == "ab" .^ (0:4)
    @test [size(p) for p in batch.points] == [(2, i) for i in 0:4] && batch.points[4] == fill(3, 2, 3)
end

@testset "a reader needs the thread of the caller, and the error says how" begin
    reader = Reader(i -> (x = i,), 4; x = Int64)
    for source in (reader, Dataline.subset(Dataset(reader), [0]), Dataline.zipped((a = Dataset(reader), b = numbers(4)))),
        settings in ((;), (num_workers = 2,))

        problem = thrown(() -> Loader(source; settings...))
        @test problem.code == Dataline.ERR_BAD_OPTION && occursin("num_workers=0", problem.message)
    end
end

@testset "several of Julia's threads read at once, in order all the same" begin
    lines = readlines(julia_command("processes/reading.jl"; threads = 4))
    @test lines == ["two at once: true", "rested: true", "in order: true", "bad: [7]"]
    @test code_of(() -> Reader(identity, 1; x = Int64, workers = 0)) == Dataline.ERR_INVALID_ARGUMENT
    alone = Loader(Reader(i -> (x = i,), 6; x = Int64, workers = 3); num_workers = 0, batch_size = 6)
    @test first(alone).x == 0:5
end

@testset "what a reader throws makes its sample bad" begin
    read(i) = i == 1 ? throw(ArgumentError("no page 1")) : i == 2 ? (x = [1, 2, 3],) : i == 3 ? (y = 1,) : (x = [i, i],)
    reader = Reader(read, 6; x = (Int64, 2))
    problem = thrown(() -> first(Loader(reader; num_workers = 0, batch_size = 2)))
    @test problem.code == Dataline.ERR_BAD_SAMPLE && problem.sample == 1 && occursin("no page 1", problem.message)
    loader = Loader(reader; num_workers = 0, batch_size = 6, on_error = "quarantine", epochs = 1)
    @test all(column -> column in ([0, 0], [4, 4], [5, 5]), eachcol(first(loader).x))
    @test sort([bad.index for bad in Dataline.bad_samples(loader)]) == [1, 2, 3]
    @test all(bad -> bad.replacement in (0, 4, 5), Dataline.bad_samples(loader)) && Dataline.stats(loader).bad == 3
end

@testset "a reader that would wait for a batch of its own loader is refused, another loader's it may take" begin
    other = Loader(Reader(i -> (x = 10 + i,), 4; x = Int64); num_workers = 0, batch_size = 4)
    asks = Any[]
    function read(i)
        i == 2 && !isempty(asks) && popfirst!(asks)()
        return (x = i,)
    end
    loader = Loader(Reader(read, 6; x = Int64); num_workers = 0, batch_size = 2, epochs = 1)
    taken = Int[]
    push!(asks, () -> append!(taken, Dataline.next!(other).x))
    @test Dataline.next!(loader).x == [0, 1] && Dataline.next!(loader).x == [2, 3] && taken == 10:13
    Dataline.seek!(loader, 0, 1)
    push!(asks, () -> Dataline.next!(loader))
    problem = thrown(() -> Dataline.next!(loader))
    @test problem.code == Dataline.ERR_BAD_SAMPLE && occursin("this thread is filling a batch of this loader", problem.message)
    @test Dataline.next!(loader).x == [3] && Dataline.next!(loader).x == [4, 5]
end

@testset "each bad sample has its own text" begin
    reader = Reader(i -> i % 4 == 3 ? error("page $i is torn") : (x = i,), 10; x = Int64)
    loader = Loader(reader; num_workers = 0, batch_size = 10, on_error = "replace")
    first(loader)
    texts = [(bad.index, bad.message) for bad in Dataline.bad_samples(loader)]
    @test length(texts) == 2 && all(((i, text),) -> endswith(text, ": page $i is torn"), texts)
end

@testset "large arrays are lent, not copied, and let go when their rows are made" begin
    shared = [zeros(Float32, 32, 64) for _ in 1:8]
    function read(i)
        i > 0 && fill!(shared[i], i) # of the sample before: its row is made after this call
        return (x = shared[i + 1], n = i)
    end
    loader = Loader(Reader(read, 8; x = (Float32, 32, 64), n = Int64); num_workers = 0, batch_size = 8, epochs = 1)
    batch = first(loader)
    @test batch.x[1, 1, :] == [1:7; 0] && batch.n == 0:7

    loans = length(Dataline.LOANS)
    collected = Threads.Atomic{Int}(0)
    function make(i)
        i == 5 && error("bad on purpose")
        return (x = finalizer(_ -> Threads.atomic_add!(collected, 1), fill(Float32(i), 32, 64)),)
    end
    fresh = Loader(Reader(make, 16; x = (Float32, 32, 64)); num_workers = 0, batch_size = 4, on_error = "replace")
    @test first(fresh).x[1, 1, :] == 0:3
    close(fresh)
    @test eventually(() -> (GC.gc(); collected[] >= 4))
    @test eventually(() -> length(Dataline.LOANS) <= loans + 1)
end

@testset "a reader of two arguments knows the place of its sample" begin
    places = Dataline.Place[]
    function read(i, place)
        push!(places, place)
        @test place.seed == 9 && !Dataline.cancelled(place)
        return (x = 100place.epoch + place.slot,)
    end
    loader = Loader(Reader(read, 10; x = Int64); num_workers = 0, batch_size = 10, shuffle = true, seed = 9, epochs = 2)
    @test [copy(batch.x) for _ in 1:2 for batch in loader] == [0:9, 100:109]
    @test all(Dataline.cancelled, places) # their calls are over
end

@testset "a sample that is too large names the option" begin
    reader = Reader(i -> (x = zeros(UInt8, 1000),), 2; x = Ragged{UInt8})
    problem = thrown(() -> first(Loader(reader; num_workers = 0, max_bytes_per_sample = 100)))
    @test occursin("max_bytes_per_sample", problem.message)
end

@testset "collecting garbage inside a reader does not call the library" begin
    other = Loader(numbers(8); batch_size = 2)
    hold() = Any[keep(batch) for batch in other]
    kept = hold()
    function drop_and_collect(i)
        isempty(kept) || pop!(kept)
        GC.gc()
        @test Dataline.READING[] == 1
        return (x = i,)
    end
    reading = Loader(Reader(drop_and_collect, 4; x = Int64); num_workers = 0, batch_size = 4)
    @test first(reading).x == 0:3
    @test Dataline.READING[] == 0
    @test eventually(() -> Dataline.stats(other).leases_held == 0)
end

@testset "the name of the data is in the state" begin
    state(name) = Dataline.save_state(Loader(Reader(i -> (x = i,), 4; x = Int64, fingerprint = name); num_workers = 0))
    @test state("a") != state("b") && state("a") == state("a")
end

@testset "a reader without fields, and of items without a type, is refused" begin
    @test code_of(() -> Reader(identity, 1)) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataset(Reader(identity, 1; x = Any))) == Dataline.ERR_UNSUPPORTED
end

@testset "a window has no more blocks open than the reader can keep" begin
    blocks(ends; held = 4) = Reader(i -> (x = i,), 400; x = Int64, block_ends = ends, held_blocks = held)
    loader = Loader(blocks(10:10:400); num_workers = 0, shuffle = "window", batch_size = 8, epochs = 1)
    order = reduce(vcat, [copy(batch.x) for batch in loader]) .÷ 10
    spans = [(findfirst(==(block), order), findlast(==(block), order)) for block in 0:39]
    @test length(order) == 400
    @test maximum(count(span -> span[1] <= at <= span[2], spans) for at in 1:400) <= 4
    for bad in (blocks([10, 10, 400]), blocks([10, 20]), blocks([401]), blocks([400]; held = -1))
        problem = thrown(() -> Dataset(bad))
        @test problem.code == Dataline.ERR_INVALID_ARGUMENT && occursin(r"block_ends|held_blocks", problem.message)
    end
end
