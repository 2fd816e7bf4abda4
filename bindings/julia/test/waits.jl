# Waits: they let other tasks run, and end by time, by a cancel, an interrupt, a newer loop, a seek, by closing.
#
# SPDX-License-Identifier: Apache-2.0

# A loader whose next batch does not come before one of those held is given back.
function stuck_loader()
    loader = Loader(numbers(100); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
    return loader, [Dataline.next!(loader) for _ in 1:2]
end

# Tasks that make these calls, once all of them wait in the event loop.
function waiters_in_loop(loader, calls...)
    tasks = [@async outcome(call) for call in calls]
    @test eventually(() -> loader.waits.waiting[] == length(tasks))
    return tasks
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

@testset "a task that waits looks again only when something has happened" begin
    loader = Loader(numbers(8); batch_size = 2, max_leases = 1, lease_overflow = "wait", num_workers = 1)
    batch, _ = iterate(loader)
    (waiter,) = waiters_in_loop(loader, () -> Dataline.next!(loader))
    Dataline.seek!(loader, 0, 2)
    foreach(_ -> yield(), 1:100) # it looks, and waits again
    changes = loader.waits.changes[]
    sleep(0.3)
    @test loader.waits.changes[] == changes && loader.waits.waiting[] == 1
    close(batch)
    @test outcome_of(waiter) == [4, 5]
end

@testset "a wait for a lease is ended by the collector when nobody has the kept batches any more" begin
    drop() = (stuck_loader()[1],)
    (loader,) = drop()
    @test Dataline.next!(loader).x == [2]
end

@testset "a wait for a lease is ended by the collector also if a batch is kept later" begin
    loader = Loader(numbers(8); batch_size = 2, max_leases = 1, lease_overflow = "wait", num_workers = 1)
    batch, _ = iterate(loader)
    (waiter,) = waiters_in_loop(loader, () -> Dataline.next!(loader))
    drop() = (keep(batch); nothing)
    drop()
    close(batch)
    @test timedwait(() -> istaskdone(waiter), 10.0) === :ok # not outcome_of, which runs the collector
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
    (waiter,) = waiters_in_loop(loader, () -> Dataline.next!(loader))
    Dataline.cancel(loader)
    @test outcome_of(waiter) == Dataline.CANCELLED
    @test code_of(() -> epoch_of(loader)) == Dataline.CANCELLED == code_of(() -> Dataline.next!(loader))
    foreach(close, held)
    Dataline.seek!(loader, 0, 99)
    @test epoch_of(loader) == [[99]]
end

@testset "interrupt ends every wait in progress, and no later call" begin
    loader, held = stuck_loader()
    epoch = Dataline.Epoch(loader)
    take() = Dataline.next!(loader)
    tasks = waiters_in_loop(loader, take, () -> Dataline.next!(epoch), () -> first(epoch), take)
    Dataline.interrupt(loader)
    @test woken.(tasks) == fill(Dataline.INTERRUPTED, 4)
    close(held[1])
    @test outcome(take) == [0]
end

@testset "interrupt ends the next call if none waits, once" begin
    loader = Loader(numbers(8); batch_size = 2)
    epoch = Dataline.Epoch(loader)
    for interrupted in (loader, epoch)
        Dataline.interrupt(interrupted)
        @test code_of(() -> first(epoch)) == Dataline.INTERRUPTED
    end
    @test first(epoch).x == [0, 1]
end

@testset "interrupt of an Epoch ends its waits alone" begin
    loader, held = stuck_loader()
    epoch = Dataline.Epoch(loader)
    other, mine, also_mine =
        waiters_in_loop(loader, () -> Dataline.next!(loader), () -> first(epoch), () -> Dataline.next!(epoch))
    Dataline.interrupt(epoch)
    @test woken(mine) == woken(also_mine) == Dataline.INTERRUPTED && !istaskdone(other)
    close(held[1])
    @test outcome_of(other) == [0]
end

@testset "what ends a loop ends its waits, and next! waits on" begin
    for (ended_by, following) in ((loader -> Dataline.seek!(loader, 0, 7), 7), (Dataline.Epoch, 0))
        loader, held = stuck_loader()
        epoch = Dataline.Epoch(loader)
        loop, other = waiters_in_loop(loader, () -> first(epoch), () -> Dataline.next!(loader))
        ended_by(loader)
        @test woken(loop) == Dataline.ERR_WRONG_STATE && !istaskdone(other)
        foreach(close, held)
        @test outcome_of(other) == [following]
    end
    loader, held = stuck_loader()
    state = Dataline.save_state(loader)
    epoch = Dataline.Epoch(loader)
    (loop,) = waiters_in_loop(loader, () -> first(epoch))
    Dataline.load_state!(loader, state)
    @test woken(loop) == Dataline.ERR_WRONG_STATE
end

@testset "a task that takes the end of an epoch ends the waits of the others" begin
    loader = Loader(numbers(3); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
    epoch = Dataline.Epoch(loader)
    held = [Dataline.next!(epoch) for _ in 1:2]
    (waiter,) = waiters_in_loop(loader, () -> Dataline.next!(epoch))
    @test eventually(() -> Dataline.stats(loader).ready_batches > 0)
    close(held[1])
    # Before the waiter runs the epoch is over, and the first batch of the next one waits for a lease.
    last, after = Dataline.next!(epoch), Dataline.next!(epoch)
    @test last.x == [2] && after === :end_of_epoch === woken(waiter)
end

@testset "closing a loader ends the waits in other tasks, and the last of them destroys it" begin
    loader, held = stuck_loader()
    waiters = waiters_in_loop(loader, () -> Dataline.next!(loader), () -> first(loader))
    close(loader)
    @test all(waiter -> woken(waiter) in (Dataline.ERR_WRONG_STATE, Dataline.CANCELLED), waiters)
    @test loader.handle == C_NULL
    @test held[1].x == [0] # what is held stays
end

@testset "after close every call is an exception, closing again and cancelling are not" begin
    loader = Loader(numbers(4))
    epoch = Dataline.Epoch(loader)
    close(loader)
    close(loader)
    Dataline.cancel(loader)
    Dataline.interrupt(loader)
    Dataline.interrupt(epoch)
    @test !isopen(loader) && string(loader) == "Loader (closed)"
    calls = (l -> first(l), Dataline.next!, length, position, l -> Dataline.seek!(l, 0), Dataline.save_state, Dataline.stats,
        l -> Dataline.load_state!(l, ""), Dataline.fields, Dataline.bad_samples, l -> Dataline.set_indices!(l, [1]), collect,
        _ -> first(epoch), _ -> Dataline.next!(epoch))
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
