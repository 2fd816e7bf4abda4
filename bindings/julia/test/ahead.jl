# Batches that are loaded ahead in Julia's own threads.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Reader, ahead

reading(count = 40; read = i -> (x = i,), more...) =
    Loader(Reader(read, count; x = Int64); num_workers = 0, batch_size = 4, more...)

@testset "a thread loads while the body runs, and the collector stops nobody for ever" begin
    @test lines_of("processes/ahead.jl"; threads = 3) == ["loaded while the body ran: 20 of 20", "by another thread: true",
        "the same batches: true", "shared by next!: true"]
end

@testset "the batches of each loop are those of the loader, also with one thread" begin
    for batches in 1:3
        plain, other = reading(; shuffle = true, epochs = 2), reading(; shuffle = true, epochs = 2)
        loop = ahead(other; batches = batches)
        for _ in 1:2
            @test epoch_of(loop) == epoch_of(plain)
        end
        @test isempty(epoch_of(loop)) && length(loop) == 10 && position(other) == (epoch = 2, step = 0)
    end
    @test code_of(() -> ahead(reading(); batches = 0)) == Dataline.ERR_INVALID_ARGUMENT
end

@testset "a batch is valid until the next one is taken, and none stays held" begin
    loader = reading()
    loop = ahead(loader)
    before = nothing
    for batch in loop
        before === nothing || @test !isopen(before)
        before = batch
        @test isopen(batch) && length(batch.x) == 4
    end
    @test !isopen(before) && Dataline.stats(loader).leases_held == 0
end

@testset "a state that is saved in the loop is that of its batch, however far was loaded" begin
    loop = ahead(reading(; seed = 5, shuffle = true); batches = 3)
    whole = epoch_of(loop)
    for stop in (1, 4, 10)
        source = reading(; seed = 5, shuffle = true)
        loop = ahead(source; batches = 3)
        state = ""
        for (k, batch) in enumerate(loop)
            k == stop && (state = Dataline.save_state(loop); break)
        end
        close(loop)
        resumed = reading(; seed = 5, shuffle = true)
        Dataline.load_state!(resumed, state)
        @test position(resumed) == (epoch = 0, step = stop)
        stop == 10 || @test epoch_of(resumed) == whole[stop+1:end]
    end
end

@testset "a loop that is left gives everything back, and the next is the next epoch" begin
    loader = reading(; shuffle = true)
    loop = ahead(loader)
    for batch in loop
        break
    end
    close(loop)
    close(loop)
    @test eventually(() -> Dataline.stats(loader).leases_held <= 1) # the batch that the body had
    second = [Dataline.info(batch).epoch for batch in loop]
    @test second == fill(1, 10)
    close(loader)
end

@testset "what a reader throws comes where the batch is due, and the epoch goes on" begin
    loader = reading(; read = i -> i == 9 ? error("page 9 is torn") : (x = i,))
    epoch = Dataline.Epoch(loader)
    seen = Int[]
    problem = thrown(() -> foreach(batch -> append!(seen, batch.x), ahead(epoch)))
    @test problem isa DatalineError && problem.code == Dataline.ERR_BAD_SAMPLE && problem.sample == 9 && seen == 0:7
    foreach(batch -> append!(seen, batch.x), ahead(epoch))
    @test seen == setdiff(0:39, 9)
end

@testset "a loader that is closed meanwhile ends the loop with an error" begin
    loader = reading()
    problem = thrown() do
        for batch in ahead(loader; batches = 1)
            close(loader)
        end
    end
    @test problem isa DatalineError && problem.code == Dataline.ERR_WRONG_STATE
end

@testset "next! keeps to its time while another task reads" begin
    loader = reading(8; read = i -> (i == 0 && yield(); (x = i,)))
    first_one = @async Dataline.next!(loader)
    yield() # it is inside the read of sample 0
    @test Dataline.next!(loader; timeout = 0) === :timeout
    @test fetch(first_one).x == 0:3
end

# A loader, the task that takes its first batch and is inside the read of sample 0, and what lets it read on.
function held_in_read()
    go_on = Threads.Event()
    loader = reading(8; read = i -> (i == 0 && wait(go_on); (x = i,)))
    reader = @async code_of(() -> Dataline.next!(loader))
    @test eventually(() -> Dataline.READING[] == 1)
    return loader, reader, go_on
end

function waits_for_turn(loader, call)
    waiter = @async outcome(call)
    @test eventually(() -> loader.waits.waiting[] == 1)
    return waiter
end

@testset "a task that waits for another's read takes its turn after it" begin
    loader, reader, go_on = held_in_read()
    waiter = waits_for_turn(loader, () -> Dataline.next!(loader))
    notify(go_on)
    @test outcome_of(waiter) == 4:7 && fetch(reader) === nothing
end

@testset "closing ends the wait for another's read, whose task destroys the loader" begin
    loader, reader, go_on = held_in_read()
    waiter = waits_for_turn(loader, () -> Dataline.next!(loader))
    close(loader)
    @test woken(waiter) == Dataline.ERR_WRONG_STATE && !istaskdone(reader) && loader.handle != C_NULL
    notify(go_on)
    @test outcome_of(reader) in (Dataline.CANCELLED, Dataline.ERR_WRONG_STATE) && loader.handle == C_NULL
end

@testset "interrupt ends the wait for another's read, and the read's batch is not lost" begin
    loader, reader, go_on = held_in_read()
    waiter = waits_for_turn(loader, () -> first(Dataline.Epoch(loader)))
    Dataline.interrupt(loader)
    @test woken(waiter) == Dataline.INTERRUPTED && !istaskdone(reader)
    notify(go_on)
    @test fetch(reader) == Dataline.INTERRUPTED && first(loader).x == 0:3
end

@testset "a loader is destroyed when no reader is being called" begin
    _, reader, go_on = held_in_read()
    closed = @async close(Loader(numbers(4)))
    @test eventually(() -> Dataline.READERS.waiting[] == 1) && !istaskdone(closed)
    notify(go_on)
    @test outcome_of(closed) === nothing === fetch(reader)
end
