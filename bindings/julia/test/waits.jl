# Waits: they let other tasks run, and end by time, by cancel, by closing.
#
# SPDX-License-Identifier: Apache-2.0

# A loader whose next batch does not come before one of those held is given back.
function stuck_loader()
    loader = Loader(numbers(100); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
    return loader, [Dataline.next!(loader) for _ in 1:2]
end

@testset "a time-out loses nothing" begin
    loader, held = stuck_loader()
    @test Dataline.next!(loader; timeout = 0) === :timeout === Dataline.next!(loader; timeout = 0.2)
    close(held[1])
    @test Dataline.next!(loader).x == [2]
end

@testset "other tasks run while one waits" begin
    loader, held = stuck_loader()
    turns = 0
    @async begin
        while turns < 1000 # long enough for the wait to get to the event loop
            turns += 1
            sleep(0.0001)
        end
        close(held[2])
    end
    @test Dataline.next!(loader).x == [2] && turns == 1000
end

@testset "a wait for a lease is ended by the collector when nobody has the kept batches any more" begin
    drop() = (stuck_loader()[1],)
    (loader,) = drop()
    @test Dataline.next!(loader).x == [2]
end

@testset "a task that waits can be one of several" begin
    loader, held = stuck_loader()
    waiters = [@async Dataline.next!(loader) for _ in 1:3]
    yield()
    foreach(close, held)
    got = Int[]
    for waiter in waiters
        push!(got, (batch = fetch(waiter); value = batch.x[1]; close(batch); value))
    end
    @test sort(got) == [2, 3, 4]
end

@testset "cancel holds until a seek, and ends a loop and a wait" begin
    loader, held = stuck_loader()
    waiter = @async code_of(() -> Dataline.next!(loader))
    while loader.users[] == 0 # until it waits in the event loop
        yield()
    end
    Dataline.cancel(loader)
    @test fetch(waiter) == Dataline.CANCELLED
    @test code_of(() -> epoch_of(loader)) == Dataline.CANCELLED == code_of(() -> Dataline.next!(loader))
    foreach(close, held)
    Dataline.seek!(loader, 0, 99)
    @test epoch_of(loader) == [[99]]
end

@testset "interrupt ends the waits in progress only" begin
    loader, held = stuck_loader()
    waiter = @async code_of(() -> Dataline.next!(loader))
    while !istaskdone(waiter) # when the wait begins is not known
        Dataline.interrupt(loader)
        yield()
    end
    @test fetch(waiter) == Dataline.INTERRUPTED
    close(held[1])
    @test Dataline.next!(loader).x == [2]
end

@testset "closing a loader ends the waits in other tasks" begin
    loader, held = stuck_loader()
    waiter = @async thrown(() -> Dataline.next!(loader))
    while loader.users[] == 0
        yield()
    end
    close(loader)
    @test fetch(waiter).code in (Dataline.ERR_WRONG_STATE, Dataline.CANCELLED)
    @test held[1].x == [0] # what is held stays
end

@testset "after close every call is an exception, closing again and cancelling are not" begin
    loader = Loader(numbers(4))
    close(loader)
    close(loader)
    Dataline.cancel(loader)
    Dataline.interrupt(loader)
    @test !isopen(loader) && string(loader) == "Loader (closed)"
    calls = (l -> first(l), Dataline.next!, length, position, l -> Dataline.seek!(l, 0), Dataline.save_state, Dataline.stats,
        l -> Dataline.load_state!(l, ""), Dataline.fields, Dataline.bad_samples, l -> Dataline.set_indices!(l, [1]), collect)
    @test all(call -> code_of(() -> call(loader)) == Dataline.ERR_WRONG_STATE, calls)
    dataset = numbers(4)
    close(dataset)
    close(dataset)
    calls = (length, Dataline.fields, Dataline.notes, Dataline.uri, Dataline.format, Loader, Dataline.concat, Dataline.zipped,
        d -> Dataline.subset(d, [0]))
    @test all(call -> code_of(() -> call(dataset)) == Dataline.ERR_WRONG_STATE, calls)
    @test string(dataset) == "Dataset (closed)"
end

@testset "do blocks close, by an exception too" begin
    kept = Ref{Any}()
    @test Loader(loader -> (kept[] = loader; length(epoch_of(loader))), numbers(10); batch_size = 5) == 2
    @test !isopen(kept[])
    @test_throws ErrorException Dataset([1, 2, 3]) do dataset
        kept[] = dataset
        error("on purpose")
    end
    @test !isopen(kept[])
end

@testset "a token ends opening and waiting for good" begin
    token = CancelToken()
    loader = Loader(numbers(10); cancel_token = token)
    @test Dataline.next!(loader) isa Dataline.Batch
    Dataline.cancel(token)
    @test code_of(() -> Dataline.next!(loader)) == Dataline.CANCELLED
    Dataline.seek!(loader, 0)
    @test code_of(() -> Dataline.next!(loader)) == Dataline.CANCELLED
    uri = record_file("cancelled.raw")
    @test code_of(() -> Dataset(uri; cancel_token = token)) == Dataline.CANCELLED
    @test code_of(() -> Loader(numbers(1); cancel_token = 1)) == Dataline.ERR_BAD_OPTION
end
