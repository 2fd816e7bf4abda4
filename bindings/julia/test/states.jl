# The same job through the program `dataline`: the same bytes, and states that go from one to the other.
#
# SPDX-License-Identifier: Apache-2.0

const JOB = (batch_size = 32, shuffle = true, seed = 11, last_batch = "pad", epochs = 2)

# The next batches, to the end of the job when `limit` is not reached.
function bytes_of(loader, limit = typemax(Int))
    bytes = UInt8[]
    while limit > 0 && (batch = Dataline.next!(loader)) !== :end
        batch === :end_of_epoch && continue
        append!(bytes, vec(batch.data))
        close(batch)
        limit -= 1
    end
    return bytes
end

@testset "a state goes on where it was saved" begin
    uri = record_file("state.raw")
    whole = bytes_of(Loader(uri; JOB...))
    first_part = Loader(uri; JOB...)
    joined = bytes_of(first_part, 40) # over the end of the first epoch
    state = Dataline.save_state(first_part)
    @test length(state) < 4096
    second_part = Loader(uri; JOB..., num_workers = 0, prefetch_depth = 1)
    Dataline.load_state!(second_part, state)
    @test position(second_part) == position(first_part) && vcat(joined, bytes_of(second_part)) == whole
    problem = thrown(() -> Dataline.load_state!(Loader(uri; JOB..., seed = 12), state))
    @test problem.code == Dataline.ERR_STATE_REFUSED && occursin("12", problem.message)
end

if PROGRAM === nothing
    @info "left out: the comparison with the program dataline, for there is none (DATALINE_BIN)"
else
    flags = ["--$key=$value" for (key, value) in pairs(JOB)]
    cat(uri, more...) = read(`$PROGRAM cat $uri $flags $more`)

    @testset "the bytes of a job are those of dataline cat" begin
        uri = record_file("same.raw")
        whole = cat(uri)
        @test length(whole) == 2 * 32 * 32 * 16
        @test all(workers -> bytes_of(Loader(uri; JOB..., num_workers = workers)) == whole, 0:2)
        loader = Loader(uri; JOB...)
        indices = [Dataline.sample_indices(batch) for _ in 1:2 for batch in loader]
        @test parse.(Int, split(String(cat(uri, "--indices")))) == reduce(vcat, indices)
    end

    @testset "a state goes from the shell to Julia and back" begin
        uri, state = record_file("chain.raw"), scratch_file("chain.state")
        joined = cat(uri, "--batches", "5", "--save-state", state)
        here = Loader(uri; JOB...)
        Dataline.load_state!(here, read(state, String))
        append!(joined, bytes_of(here, 40))
        write(state, Dataline.save_state(here))
        append!(joined, cat(uri, "--load-state", state))
        @test joined == cat(uri)
    end

    @testset "the tables are those of the shell" begin
        shown = read(`$PROGRAM options --json`, String)
        keys = [string(option.key) for option in Dataline.options_table()]
        @test sort([found[1] for found in eachmatch(r"\"key\": *\"([^\"]*)\"", shown)]) == sort(keys)
        shown = read(`$PROGRAM transforms --json`, String)
        @test all(operator -> occursin("\"$(operator.name)\"", shown), Dataline.transforms_table())
    end
end
