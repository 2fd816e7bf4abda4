# Batches: like named tuples, what they know, how long they are held.
#
# SPDX-License-Identifier: Apache-2.0

@testset "fields by name, by place, and all at once" begin
    batch = first(Loader((image = [1 2; 3 4], label = [5, 6]); batch_size = 2))
    (image, label) = batch
    @test image == [1 2; 3 4] && label == batch.label == batch[:label] == batch[2] == batch[end]
    @test keys(batch) == (:image, :label) == propertynames(batch) && length(batch) == 2
    @test NamedTuple(batch) == (image = [1 2; 3 4], label = [5, 6]) && Tuple(batch) == ([1 2; 3 4], [5, 6])
    @test [field for field in batch] == [[1 2; 3 4], [5, 6]] && Dict(pairs(batch))[:label] == [5, 6]
    problem = thrown(() -> batch.nosuch)
    @test problem.code == Dataline.ERR_NO_SUCH_FIELD && occursin("image, label", problem.message)
    @test occursin("image", string(batch))
end

@testset "names that are no identifiers" begin
    part = Dataset((a = [1, 2], b = [3, 4]))
    zip = Dataline.zipped((left = part, right = part))
    batch = first(Loader(zip; batch_size = 2))
    @test batch[Symbol("right/b")] == [3, 4]
end

@testset "a batch knows its samples and which of them are pads" begin
    loader = Loader(numbers(6); batch_size = 4, last_batch = :pad, epochs = 1)
    last = collect(loader)[2]
    @test Dataline.info(last) == (epoch = 0, step = 1, samples = 4, valid = 2)
    @test Dataline.sample_indices(last) == [4, 5, 0, 1] && Dataline.sample_sources(last) == [0, 0, 0, 0]
    @test last.x == [4, 5, 0, 1]
end

@testset "kept batches and views outlive the next batch, the loader and the dataset" begin
    loader = Loader(numbers(100); batch_size = 10, epochs = 1)
    views, batches = Any[], Any[]
    for batch in loader # more than max_leases: the later ones are copies
        push!(views, keep(batch.x))
        push!(batches, keep(batch))
        @test pointer(views[end]) == pointer(batch.x)
    end
    @test Dataline.stats(loader).lease_copies == 6
    close(loader)
    for step in 0:9
        @test views[step+1] == batches[step+1].x == 10step:10step+9
    end
end

@testset "collect keeps the batches of an epoch" begin
    loader = Loader(numbers(10); batch_size = 3)
    batches = collect(loader)
    @test [collect(batch.x) for batch in batches] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    @test all(isopen, batches) && eltype(batches) == eltype(loader)
end

@testset "closing gives the slot back once" begin
    loader = Loader(numbers(10); batch_size = 2)
    batch = keep(first(loader))
    again, view = keep(batch), keep(batch.x)
    @test Dataline.stats(loader).leases_held == 1 # one batch, four references
    close(batch)
    close(batch)
    @test !isopen(batch) && isopen(again) && again.x == view == [0, 1]
    close(again)
    @test view == [0, 1]
    close(view)
    @test code_of(() -> view[1]) == Dataline.ERR_WRONG_STATE
    @test Dataline.stats(loader).leases_held == 1 # that of the loop
    iterate(loader)
    close(first(loader))
    @test Dataline.stats(loader).leases_held == 0
end

@testset "the collector gives kept batches back" begin
    loader = Loader(numbers(10); batch_size = 1)
    take(count) = foreach(batch -> keep(batch).x, Iterators.take(loader, count))
    take(3)
    @test eventually(() -> Dataline.stats(loader).leases_held <= 1)
end

@testset "what an array of a kept batch needs lives as long as the array" begin
    function array_of(value)
        batch = keep(first(Loader(fill(value, 100_000); batch_size = 100_000)))
        return parent(batch.data) # neither the loader nor the batch is left
    end
    arrays = map(array_of, 1:20)
    GC.gc()
    GC.gc()
    @test all(all(==(value), arrays[value]) for value in 1:20)
end

@testset "a loader that nobody has any more, with batches that are held" begin
    function orphans()
        loader = Loader(numbers(20); batch_size = 2)
        return [keep(batch) for batch in Iterators.take(loader, 6)], loader.state # `state`: of the loader alone
    end
    held, _ = orphans()
    foreach(_ -> (GC.gc(); yield()), 1:5)
    @test [batch.x[2] for batch in held] == 1:2:11
end

@testset "too many held batches: an error that names the option, or what the collector can give back" begin
    loader = Loader(numbers(10); batch_size = 1, max_leases = 3, lease_overflow = "error")
    held = [keep(first(loader)), Dataline.next!(loader), Dataline.next!(loader)]
    problem = thrown(() -> Dataline.next!(loader))
    @test problem.code == Dataline.ERR_LEASES_HELD && occursin("max_leases", problem.message)
    foreach(close, held)
    close(held[1])
    for _ in 1:20 # dropped, not closed
        @test Dataline.next!(loader) !== :timeout
    end
end
