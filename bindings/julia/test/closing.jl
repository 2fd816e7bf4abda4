# What several tasks and threads do to one batch or dataset at once, and memory that is lent.
#
# SPDX-License-Identifier: Apache-2.0

@testset "threads close batches and datasets, and ask them, at once" begin
    lines = readlines(julia_command("processes/closing.jl"; threads = 4))
    @test lines == ["batches: all given back once", "datasets: closed while they were asked"]
end

refuses_to_resize(change) = VERSION >= v"1.11-" || occursin("shared data", thrown(change).msg)

@testset "what is lent cannot be resized under the library's threads" begin
    values, sequence, starts, indices, weights = collect(Int64, 1:1000), UInt8[1, 2, 3], [0, 1, 3], [1, 0], [1.0, 1.0]
    dataset = Dataset((x = values,))
    loader = Loader(dataset; batch_size = 1000, num_workers = 1)
    for change in (() -> push!(values, 1), () -> resize!(values, 10^7), () -> empty!(values), () -> sizehint!(values, 10^7),
        () -> append!(values, zeros(Int64, 10^6)))
        @test refuses_to_resize(change)
    end
    @test first(loader).x == 1:1000
    part = Dataset((x = view(collect(1:10), 3:6),)) # what lies under a view is lent too
    lent = collect(1:10)
    under = Dataset((x = view(lent, 3:6),))
    @test refuses_to_resize(() -> resize!(lent, 10^6))
    @test epoch_of(Loader(under; batch_size = 4)) == [3:6] == epoch_of(Loader(part))
    ragged = Dataset((x = Dataline.Packed(sequence, starts),))
    @test refuses_to_resize(() -> push!(sequence, 4)) && refuses_to_resize(() -> push!(starts, 4)) && length(ragged) == 2
    ordered = Loader(numbers(2); sample_indices = indices, batch_size = 2)
    weighed = Loader(numbers(2); weights = weights)
    @test refuses_to_resize(() -> push!(indices, 0)) && refuses_to_resize(() -> push!(weights, 0))
    @test epoch_of(ordered) == [[1, 0]] && length(epoch_of(weighed)) == 1
    copied = collect(Int64, 1:3)
    @test length(Dataset((x = copy(copied),))) == 3 && push!(copied, 4) == 1:4 # the way out
end
