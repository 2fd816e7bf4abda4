# A dataset as MLUtils takes data: its own fallbacks are `numobs(data) = length(data)` and `getobs(data, i) = data[i]`.
#
# SPDX-License-Identifier: Apache-2.0

numobs(data) = length(data)
getobs(data, i) = data[i]

@testset "samples by position, from 1" begin
    image = reshape(collect(Float32, 1:24), 2, 3, 4)
    dataset = Dataset((image = image, label = [10, 20, 30, 40], text = ["a", "", "ccc", "dd"]))
    @test numobs(dataset) == 4 == lastindex(dataset) && collect(eachindex(dataset)) == 1:4
    one = getobs(dataset, 3)
    @test one.image == image[:, :, 3] && one.image isa Matrix{Float32} && one.label === 30 && String(one.text) == "ccc"
    some = getobs(dataset, [4, 1, 4])
    @test some.image == image[:, :, [4, 1, 4]] && some.label == [40, 10, 40] && String.(some.text) == ["dd", "a", "dd"]
    @test some.image isa Array{Float32,3} && some.label isa Vector{Int64}
    @test dataset[2:3].label == [20, 30] && dataset[:].image == image && dataset[end].label == 40
    none = getobs(dataset, Int[])
    @test size(none.image) == (2, 3, 0) && isempty(none.label) && isempty(none.text)
    for outside in (0, 5, [1, 5], 0:2)
        @test thrown(() -> dataset[outside]) isa BoundsError
    end
    close(dataset)
    @test code_of(() -> dataset[1]) == Dataline.ERR_WRONG_STATE
end

@testset "samples of a reader and of what is composed" begin
    reader = Dataset(Dataline.Reader(i -> (x = (i, i^2) |> collect,), 5; x = (Int64, 2)))
    @test reader[5].x == [4, 16] && reader[[2, 3]].x == [1 2; 1 4]
    @test Dataline.subset(reader, [4, 0])[1].x == [4, 16]
end
