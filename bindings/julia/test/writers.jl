# Sets that Julia code writes: read back, gone on with, refused.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Writer

set_path() = joinpath(mktempdir(SCRATCH), "set")
delivered(uri) = reduce(vcat, epoch_of(Loader(uri; batch_size = 3, num_workers = 0)); init = Int64[])

@testset "dense, ragged and texts come back" begin
    path = set_path()
    images, scores = reshape(collect(UInt8, 1:18), 2, 3, 3), Float32[0.5, 1.5, -2]
    kinds = (image = (UInt8, 2, 3), score = Float32, flag = Bool, tokens = Ragged{Int32}, text = Ragged{UInt8},
        points = (Ragged{Float64}, 2))
    Writer("arrow:$(Dataline.escape(path))", kinds; axes = (image = "WH",)) do writer
        append!(writer, (text = ["", "one", "vier"], tokens = [Int32[7, 8], Int32[], Int32[9]], flag = [true, false, true],
            image = images, score = scores, points = Dataline.Packed(reshape(collect(1.0:6.0), 2, 3), [0, 1, 1, 3])))
        @test Dataline.info(writer).samples == 3 && !ispath(path)
        @test occursin("samples = 3", string(writer))
    end
    @test isdir(path) && !ispath(path * ".partial")
    set = Dataset("arrow:$(Dataline.escape(path))")
    @test first(Dataline.fields(set)).axes == "WH"
    batch = Dataline.next!(Loader(set; batch_size = 3))
    @test batch.image == images && batch.score == scores && batch.flag == [true, false, true]
    @test batch.tokens == [[7, 8], [], [9]] && map(String, batch.text) == ["", "one", "vier"]
    @test map(copy, batch.points) == [[1.0 2.0]', zeros(2, 0), [3.0 5.0; 4.0 6.0]]
    close(batch)
end

@testset "fields of a dataset and its batches are written" begin
    uri, source = "arrow:" * set_path(), Dataset((x = collect(Int64, 0:19), text = string.(1:20)))
    order = Int64[]
    Writer(uri, Dataline.fields(source)) do writer
        for batch in Loader(source; batch_size = 6, shuffle = true, seed = 3)
            append!(writer, NamedTuple(batch))
            append!(order, batch.x)
        end
    end
    @test delivered(uri) == order
    @test map(String, Dataline.next!(Loader(uri; batch_size = 20)).text) == string.(order .+ 1)
end

@testset "a writer goes on where an exception ended the last" begin
    path = set_path()
    uri = "arrow:$path?shard_bytes=1"
    failing() = Writer(uri, (x = Int64,); job = "numbers") do writer
        @test position(writer) == ""
        append!(writer, (x = [0, 1, 2],); position = "3")
        throw(KeyError("the program's own"))
    end
    @test thrown(failing) == KeyError("the program's own")
    @test isdir(path * ".partial") && !ispath(path)
    refused = thrown(() -> Writer(uri, (x = Int64,); job = "others"))
    @test refused.code == Dataline.ERR_STATE_REFUSED
    @test occursin("it was started with 'numbers', now it is 'others'", refused.message)
    writer = Writer(uri, (x = Int64,); job = "numbers")
    info = Dataline.info(writer)
    @test (position(writer), info.resumed_samples, info.samples, info.shards) == ("3", 3, 3, 1) && info.bytes > 0
    @test append!(writer, (x = [3, 4],); position = "5") === writer
    Dataline.finish(writer)
    close(writer)
    @test delivered("arrow:" * path) == 0:4
end

@testset "one field stands for a list of one" begin
    path = set_path()
    Writer("arrow:" * path, first(Dataline.fields(Dataset((x = [1, 2],))))) do writer
        append!(writer, (x = [3, 4],))
    end
    @test delivered("arrow:" * path) == [3, 4]
end

@testset "targets that are none are refused" begin
    path = set_path()
    unknown = thrown(() -> Writer("idx:" * path, (x = Int64,)))
    @test (unknown.code, unknown.column) == (Dataline.ERR_BAD_URI, 1)
    @test occursin("'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens", unknown.message)
    @test code_of(() -> Writer("tfrecord:" * path, (x = Float64,))) == Dataline.ERR_UNSUPPORTED
    @test code_of(() -> Writer("arrow:" * path, NamedTuple())) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Writer("arrow:" * path, (x = String,))) == Dataline.ERR_UNSUPPORTED
    @test thrown(() -> Writer("arrow:\0", (x = Int64,))) isa ArgumentError
    @test !ispath(path) && !ispath(path * ".partial")
    writer = Writer("arrow:" * path, (x = Int64,))
    @test code_of(() -> Writer("arrow:" * path, (x = Int64,))) == Dataline.ERR_WRONG_STATE # two would write it
    close(writer)
    mkdir(path)
    there = thrown(() -> Writer("arrow:" * path, (x = Int64,)))
    @test there.code == Dataline.ERR_WRONG_STATE && occursin("set: exists", there.message)
end

@testset "rows that do not fit are refused, and the writer goes on" begin
    uri = "arrow:" * set_path()
    writer = Writer(uri, (x = Int64,))
    small = thrown(() -> append!(writer, (x = Int32[1, 2],)))
    @test small.code == Dataline.ERR_MISMATCH && occursin("expected field 'x' (i64), got 'x' (i32)", small.message)
    @test code_of(() -> append!(writer, (y = [1],))) == Dataline.ERR_MISMATCH
    @test code_of(() -> append!(writer, (x = [1 2],))) == Dataline.ERR_MISMATCH
    @test code_of(() -> append!(writer, (x = [1], y = [1]))) == Dataline.ERR_MISMATCH
    @test code_of(() -> append!(writer, (x = 1:3,))) == Dataline.ERR_INVALID_ARGUMENT # no array in memory
    @test code_of(() -> append!(writer, NamedTuple())) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataline.finish(writer)) == Dataline.ERR_EMPTY
    rows = [1, 2]
    append!(writer, (x = rows,))
    @test push!(rows, 3) == 1:3 # was only read
    append!(writer, (x = view(rows, 2:3),))
    Dataline.finish(writer)
    @test code_of(() -> append!(writer, (x = [3],))) == Dataline.ERR_WRONG_STATE
    close(writer)
    close(writer)
    @test !isopen(writer) && string(writer) == "Dataline.Writer (closed)"
    @test occursin("this writer is closed", thrown(() -> Dataline.info(writer)).message)
    @test delivered(uri) == [1, 2, 2, 3]
end

@testset "threads append whole pieces, also while one closes" begin
    @test lines_of("processes/writing.jl", set_path(); threads = 3) == ["whole: true", "all: true", "closed: true"]
end

@testset "formats that are written are the library's" begin
    table = Dataline.writer_formats_table()
    @test [format.name for format in table] == ["arrow", "parquet", "tar", "tfrecord", "npy", "tokens"]
    @test all(format -> !isempty(format.doc), table)
end
