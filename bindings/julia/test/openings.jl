# Datasets opened without waiting, one sample read, and batches loaded in pieces.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: open_async, progress

function shards(count)
    folder = mktempdir()
    foreach(k -> write(joinpath(folder, "$k.bin"), "xyz"), 1:count)
    return "raw:$folder?dtype=u8&shape=1"
end

@testset "an opening gives its dataset, the same each time, and says how far it was" begin
    opening = open_async(shards(300))
    dataset = fetch(opening)
    @test length(dataset) == 900
    @test fetch(opening) === dataset
    @test isready(opening) && wait(opening; timeout = 0)
    @test progress(opening) == (done = true, files = 300, total_files = 300, bytes = 0, total_bytes = 0, entries = 0)
    close(opening)
    close(opening)
    @test code_of(() -> progress(opening)) == Dataline.ERR_WRONG_STATE
    @test first(Loader(dataset; num_workers = 0)).data[1] == UInt8('x')
end

@testset "what is wrong is thrown at every fetch" begin
    opening = open_async("npy:/nowhere/a.npy")
    @test code_of(() -> fetch(opening)) == code_of(() -> fetch(opening)) == Dataline.ERR_NOT_FOUND
end

@testset "an opening ends by its token, by a cancel and by closing" begin
    token = CancelToken()
    cancel(token) = Dataline.cancel(token)
    cancel(token)
    @test code_of(() -> fetch(open_async(shards(2); cancel_token = token))) == Dataline.CANCELLED
    opening = open_async(shards(3000))
    Dataline.cancel(opening)
    @test code_of(() -> length(fetch(opening))) in (Dataline.CANCELLED, nothing)
end

@testset "closing an opening ends the waits in other tasks" begin
    uri = shards(3000)
    function closed_while_waiting()
        opening = open_async(uri)
        waiter = @async outcome(() -> wait(opening))
        foreach(_ -> yield(), 1:10) # it waits
        close(opening)
        return woken(waiter)
    end
    closed_while_waiting() # compiles, and may take as long as it takes to open the set
    @test closed_while_waiting() in (Dataline.ERR_WRONG_STATE, true) # true: it was open before
end

@testset "tasks that fetch at once get one dataset" begin
    opening = open_async(shards(500))
    datasets = fetch.([@async fetch(opening) for _ in 1:3])
    @test all(dataset -> dataset === datasets[1], datasets)
end

@testset "a sample is read through the transforms" begin
    dataset = numbers(10)
    batch = read(dataset, 7; transform = "x: cast(f32)")
    @test batch.x == Float32[7] && Dataline.sample_indices(batch) == [7]
    close(batch)
    @test code_of(() -> read(dataset, 10)) == Dataline.ERR_OUT_OF_RANGE
    @test code_of(() -> read(dataset, -1)) == Dataline.ERR_OUT_OF_RANGE
end

@testset "work loads a batch in pieces" begin
    loader = Loader(numbers(3000); batchsize = 1000, num_workers = 0)
    pieces = 1
    while !Dataline.work(loader, 1e-9)
        pieces += 1
    end
    @test pieces > 1
    @test Dataline.next!(loader; timeout = 0).x == 0:999
    Dataline.cancel(loader)
    @test code_of(() -> Dataline.work(loader, 1)) == Dataline.CANCELLED
end
