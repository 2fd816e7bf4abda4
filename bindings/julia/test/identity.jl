# Which data a dataset holds: its identity, and the files and fingerprints that readers and storages state.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Extensions, Reader, add_storage!, data_identity, load_state!, save_state, stats

# Another file of the same size and time of modification at the same path.
function exchange(path, value)
    write(path * ".other", fill(value, 8))
    run(`touch -r $path $path.other`)
    mv(path * ".other", path; force = true)
end

# The values of one epoch, the state before it, and how many samples the cache had.
function job(dataset; settings...)
    loader = Loader(dataset; num_workers = 0, epochs = 1, settings...)
    state = save_state(loader)
    values = reduce(vcat, [vec(copy(batch.x)) for batch in loader])
    return values, state, stats(loader).cache_read
end

# Rows of four bytes of files, opened for each row; two rows a file.
function filed(files; more...)
    read_row(i) = (x = open(io -> (seek(io, i % 2 * 4); read(io, 4)), files[i ÷ 2 + 1]),)
    return Dataset(Reader(read_row, 2 * length(files); x = (UInt8, 4), files = files, more...))
end

@testset "the identity of a file changes with the file" begin
    mktempdir() do folder
        path = joinpath(folder, "rows.bin")
        write(path, fill(0x61, 8))
        identity_of() = data_identity(Dataset("raw:$path?dtype=u8&shape=4"))
        before = identity_of()
        @test identity_of() == before
        exchange(path, 0x62)
        @test identity_of() != before
    end
end

@testset "data in memory has no identity" begin
    problem = thrown(() -> data_identity(numbers(3)))
    @test problem.code == Dataline.ERR_UNSUPPORTED && occursin("data in memory", problem.message)
end

@testset "a file that a reader states is noticed by caches and states" begin
    for ends in (Int[], [2, 4])
        mktempdir() do folder
            files = [joinpath(folder, "a"), joinpath(folder, "b")]
            write(files[1], fill(0x61, 8))
            write(files[2], fill(0x62, 8))
            settings = (cache = joinpath(folder, "cache"),)
            values, state, _ = job(filed(files; file_ends = ends); settings...)
            @test values == [fill(0x61, 8); fill(0x62, 8)]
            @test job(filed(files; file_ends = ends); settings...)[3] == 4
            exchange(files[2], 0x63)
            values, _, kept = job(filed(files; file_ends = ends); settings...)
            @test values == [fill(0x61, 8); fill(0x63, 8)]
            @test kept == length(ends) # with file_ends the rows of the other file stay
            loader = Loader(filed(files; file_ends = ends); num_workers = 0)
            @test code_of(() -> load_state!(loader, state)) == Dataline.ERR_STATE_REFUSED
        end
    end
end

@testset "file ends that fit no files are refused" begin
    for (ends, says) in ([4] => "1 file_ends for 2 files", [3, 2] => "file_ends[1] is 2, expected 3 to 4",
        [2, 3] => "file_ends end at 3")

        problem = thrown(() -> filed(["a", "b"]; file_ends = ends))
        @test problem.code == Dataline.ERR_INVALID_ARGUMENT && occursin(says, problem.message)
    end
    @test code_of(() -> filed(["a\0b"])) == Dataline.ERR_INVALID_ARGUMENT
end

@testset "an object is the same by its fingerprint" begin
    mktempdir() do folder
        value, version = 0x61, "v1"
        extensions = Extensions()
        add_storage!(extensions, "mem") do request
            now = value
            made = (size = 8, read = (offset, count) -> fill(now, count))
            return version == "" ? made : merge(made, (fingerprint = version,))
        end
        settings = (extensions = extensions, cache = joinpath(folder, "cache"))
        opened() = Dataset("raw:x=mem://x?dtype=u8&shape=4"; settings...)
        before = data_identity(opened())
        @test data_identity(opened()) == before
        @test job(opened(); settings...)[1] == fill(0x61, 8)
        @test job(opened(); settings...)[3] == 2
        value, version = 0x62, "v2"
        @test data_identity(opened()) != before
        @test job(opened(); settings...)[1] == fill(0x62, 8)
        version = ""
        @test code_of(() -> data_identity(opened())) == Dataline.ERR_UNSUPPORTED
        @test code_of(() -> Loader(opened(); num_workers = 0, settings...)) == Dataline.ERR_UNSUPPORTED
    end
end
