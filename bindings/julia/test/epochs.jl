# Iteration: one `for` loop is one epoch.
#
# SPDX-License-Identifier: Apache-2.0
using Random: MersenneTwister

@testset "a loop is an epoch of known length" begin
    loader = Loader(numbers(10); batchsize = 3, epochs = 3)
    @test length(loader) == 4 == length(collect(enumerate(loader)))
    @test epoch_of(loader) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]] == epoch_of(loader)
    @test isempty(epoch_of(Dataline.Epoch(loader))) && iterate(loader) === nothing # after the last there is nothing
    @test Dataline.next!(loader) === :end
end

@testset "keywords of MLUtils.DataLoader" begin
    steps(; more...) = length.(epoch_of(Loader(numbers(10); batchsize = 4, more...)))
    @test steps() == steps(partial = true) == [4, 4, 2] && steps(partial = false) == [4, 4]
    order(; more...) = reduce(vcat, epoch_of(Loader(numbers(50); more...)))
    @test order(shuffle = false) == 0:49 != order(shuffle = true)
    @test sort(order(shuffle = true)) == 0:49
    @test order(shuffle = true, rng = 7) == order(shuffle = true, seed = 7) != order(shuffle = true, rng = 8)
    @test order(shuffle = true, rng = MersenneTwister(1)) == order(shuffle = true, rng = MersenneTwister(1))
    for (keyword, advice) in (:collate => "ragged", :buffer => "prefetch_depth", :parallel => "num_workers")
        problem = thrown(() -> Loader(numbers(1); keyword => true))
        @test problem.code == Dataline.ERR_UNKNOWN_OPTION && occursin(advice, problem.message)
    end
end

@testset "every sample comes once an epoch, and each epoch has its own order" begin
    loader = Loader(numbers(100); batchsize = 7, shuffle = true, seed = 3)
    first_order, second_order = (reduce(vcat, epoch_of(loader)) for _ in 1:2)
    @test first_order != second_order && sort(first_order) == sort(second_order) == 0:99
end

@testset "the stream does not depend on the number of threads" begin
    stream(workers) = epoch_of(Loader(numbers(1000); shuffle = true, seed = 5, batchsize = 9, num_workers = workers))
    @test stream(0) == stream(1) == stream(3)
end

@testset "after a seek the next loop goes on there" begin
    loader = Loader(numbers(6); batchsize = 2, epochs = 3)
    Dataline.seek!(loader, 1, 2)
    epoch = Dataline.Epoch(loader)
    @test length(epoch) == 1
    @test [Dataline.info(batch).step for batch in epoch] == [2] && position(loader) == (epoch = 2, step = 0)
    @test code_of(() -> Dataline.seek!(loader, 0, 4)) == Dataline.ERR_OUT_OF_RANGE
    @test position(loader) == (epoch = 2, step = 0) # an error leaves it
end

@testset "an Epoch is taken up again after an exception" begin
    loader = Loader(Dataset(Dataline.Reader(i -> i == 3 ? error("bad on purpose") : (x = i,), 6; x = Int64));
        batchsize = 2, num_workers = 0)
    epoch = Dataline.Epoch(loader)
    @test length(epoch) == 3
    seen = Vector{Int}[]
    collect_more() = foreach(batch -> push!(seen, copy(batch.x)), epoch)
    problem = thrown(collect_more)
    @test problem.code == Dataline.ERR_BAD_SAMPLE && problem.sample == 3 && occursin("bad on purpose", problem.message)
    @test seen == [[0, 1]]
    collect_more()
    @test seen == [[0, 1], [2], [4, 5]] && length(epoch) == 0 && isempty([1 for _ in epoch])
    bad = Dataline.bad_samples(loader)
    @test length(bad) == 1 && (bad[1].index, bad[1].step, bad[1].replacement) == (3, 1, nothing)
    @test occursin("on purpose", bad[1].message) && bad[1].code isa Status
end

@testset "next! takes from an Epoch, whose end it tells for ever" begin
    loader = Loader(numbers(4); batchsize = 2, epochs = 1)
    epoch = Dataline.Epoch(loader)
    @test Dataline.next!(epoch; timeout = 1000).x == [0, 1] && length(epoch) == 1 && first(epoch).x == [2, 3]
    @test all(_ -> Dataline.next!(epoch) === :end_of_epoch, 1:2)
    Dataline.seek!(loader, 0)
    @test Dataline.next!(epoch) === :end_of_epoch && length(epoch) == 0 && isempty(epoch_of(epoch))
    none = (epoch_of(loader); Dataline.Epoch(loader))
    @test Dataline.next!(none) === :end_of_epoch && length(none) == 0 && isempty(epoch_of(none))
end

@testset "a loop that was ended throws the library's text, and an Epoch that is over does not" begin
    loader = Loader(numbers(4); batchsize = 2)
    over = Dataline.Epoch(loader)
    epoch_of(over)
    ended = Dataline.Epoch(loader)
    Dataline.Epoch(loader)
    problem = thrown(() -> first(ended))
    @test problem.code == Dataline.ERR_WRONG_STATE && startswith(problem.message, "this epoch was ended by a newer one")
    @test isempty(epoch_of(over))
end

@testset "tasks share an Epoch, and each has its batches to itself" begin
    loader = Loader(numbers(3000); batchsize = 8, shuffle = true)
    epoch = Dataline.Epoch(loader)
    parts = [Int[] for _ in 1:3]
    @sync for part in parts
        @async for batch in epoch
            before = copy(batch.x)
            yield() # the others take theirs
            @test batch.x == before
            append!(part, before)
        end
    end
    @test sort(reduce(vcat, parts)) == 0:2999 && all(!isempty, parts)
end

@testset "threads share an Epoch; of loops of their own each has its epoch whole or is told; interrupts reach all" begin
    @test lines_of("processes/sharing.jl"; threads = 3) ==
        ["shared: each batch once", "apart: whole or told", "interrupted: all of them, each time"]
end

@testset "next! tells the end of each epoch and of all" begin
    loader = Loader(numbers(2); batchsize = 2, epochs = 1)
    @test Dataline.next!(loader; timeout = 1000).x == [0, 1]
    @test Dataline.next!(loader) === :end_of_epoch && Dataline.next!(loader; timeout = 0) === :end
end

@testset "several tasks get different batches" begin
    loader = Loader(numbers(1000); batchsize = 1, epochs = 1)
    seen = Int[]
    @sync for _ in 1:4
        @async while (batch = Dataline.next!(loader)) isa Dataline.Batch
            push!(seen, batch.x[1])
            close(batch)
            yield()
        end
    end
    @test sort(seen) == 0:999
end

@testset "the caller's order, and a new one from the next epoch" begin
    loader = Loader(numbers(4); batchsize = 1, sample_indices = [3, 1])
    first_loop = [copy(batch.x) for batch in Iterators.take(loader, 1)]
    Dataline.set_indices!(loader, [0, 2])
    @test first_loop == [[3]] && epoch_of(loader) == [[0], [2]]
    @test thrown(() -> Dataline.set_indices!(loader, [0, 2, 1])) isa DatalineError
    weighted = Loader(numbers(3); weights = [0, 1, 0], samples_per_epoch = 4)
    @test epoch_of(weighted) == [[1, 1, 1, 1]]
end

@testset "two ranks share each step" begin
    parts = [epoch_of(Loader(numbers(10); global_batch_size = 4, world_size = 2, rank = rank)) for rank in 0:1]
    @test reduce(vcat, map(vcat, parts...)) == 0:9
end
