# Several loops over one loader: one after the other, inside each other, in several tasks.
#
# SPDX-License-Identifier: Apache-2.0

const ENDED = "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)"
is_ended(problem) = problem isa DatalineError && problem.code == Dataline.ERR_WRONG_STATE && problem.message == ENDED

# A loader whose next batch does not come before one of those held is given back.
function full_loader()
    loader = Loader(numbers(100); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
    return loader, [Dataline.next!(loader) for _ in 1:2]
end

# A loop that does not end is left after so many steps.
const FAR = 100

@testset "a loop inside a loop ends the outer one" begin
    loader = Loader(numbers(8); batch_size = 2)
    outer, inner = Int[], Int[]
    problem = thrown() do
        for batch in Iterators.take(loader, FAR)
            push!(outer, batch.x[1])
            foreach(other -> append!(inner, other.x), Iterators.take(loader, FAR))
        end
    end
    @test is_ended(problem) && outer == [0]
    @test inner == 0:7 # an epoch to itself
end

@testset "a seek or a loaded state ends the loop, one that fails does not" begin
    loader = Loader(numbers(8); batch_size = 2)
    state = Dataline.save_state(loader)
    for (by_seek, left) in ((true, 1), (false, 4))
        move() = by_seek ? Dataline.seek!(loader, 0, 3) : Dataline.load_state!(loader, state)
        steps = 0
        problem = thrown() do
            for _ in Iterators.take(loader, FAR)
                @test code_of(() -> Dataline.seek!(loader, 0, 99)) == Dataline.ERR_OUT_OF_RANGE
                @test code_of(() -> Dataline.load_state!(loader, "nonsense")) == Dataline.ERR_BAD_STATE
                (steps += 1) == 2 && move()
            end
        end
        @test is_ended(problem) && steps == 2
        @test length(epoch_of(loader)) == left # the next loop goes on there
    end
end

@testset "an Epoch that another loop follows says so, and one that is over does not" begin
    loader = Loader(numbers(4); batch_size = 2, epochs = 2)
    older, newer = Dataline.Epoch(loader), Dataline.Epoch(loader)
    @test is_ended(thrown(() -> first(older)))
    @test length(epoch_of(newer)) == 2 == length(epoch_of(loader))
    @test isempty(epoch_of(newer)) && isempty(epoch_of(loader))
end

@testset "calls of next! in the body take part in the epoch" begin
    for steps in (4, 5) # the end is told to the loop, or to next!
        loader = Loader(numbers(2steps); batch_size = 2)
        seen = Int[]
        for batch in Iterators.take(loader, FAR)
            push!(seen, Dataline.info(batch).step)
            more = Dataline.next!(loader)
            more isa Dataline.Batch && (push!(seen, Dataline.info(more).step); close(more))
        end
        @test seen == 0:steps-1 && position(loader) == (epoch = 1, step = 0)
    end
end

@testset "tasks share an Epoch, and each has its batches to itself" begin
    loader = Loader(numbers(3000); batchsize = 8, shuffle = true)
    for round in 1:3
        epoch = Dataline.Epoch(loader)
        parts = [Int[] for _ in 1:3]
        @sync for part in parts
            @async for batch in epoch
                before = copy(batch.x)
                yield() # the others go on
                @test batch.x == before
                append!(part, before)
            end
        end
        @test sort(reduce(vcat, parts)) == 0:2999 && all(!isempty, parts)
        @test position(loader) == (epoch = round, step = 0) && length(epoch) == 0
    end
end

@testset "a loop that waits is ended by a seek, and next! waits on" begin
    loader, held = full_loader()
    waiter = @async thrown(() -> foreach(_ -> nothing, Dataline.Epoch(loader)))
    another = @async Dataline.next!(loader; timeout = 60)
    while !istaskdone(waiter) # a seek that comes before the loop has begun ends nothing
        Dataline.seek!(loader, 0, 2)
        yield()
    end
    @test is_ended(fetch(waiter))
    foreach(close, held)
    @test fetch(another).x == [2]
end

@testset "threads share an Epoch; of loops of their own each has its epoch whole or is told" begin
    @test readlines(julia_command("processes/sharing.jl"; threads = 3)) == ["shared: each batch once", "apart: whole or told"]
end
