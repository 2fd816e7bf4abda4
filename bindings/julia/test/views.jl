# Views: types, dims, memory, arithmetic.
#
# SPDX-License-Identifier: Apache-2.0
using LinearAlgebra: mul!

@testset "dims are reversed and nothing is copied" begin
    images = reshape(collect(UInt16, 1:4*2*3), 4, 2, 3)
    loader = Loader((image = images, label = [7, 8, 9]); axes = (image = "WH",), batch_size = 3)
    @test [(f.name, f.eltype, f.size, f.axes) for f in Dataline.fields(loader)] ==
          [(:image, UInt16, [4, 2, -1], "WHN"), (:label, Int64, [-1], "")]
    batch = first(loader)
    @test batch.image == images && batch.image isa DenseArray{UInt16,3} && batch.label == [7, 8, 9]
    @test (size(batch.image), strides(batch.image), stride(batch.image, 3)) == ((4, 2, 3), (1, 4, 8), 8)
    @test pointer(batch.image) == pointer(parent(batch.image)) # the memory of the slot
    @test UInt(pointer(batch.image)) % 256 == 0
end

@testset "a C-order NCHW batch is W,H,C,N" begin
    path = scratch_file("nchw.raw")
    write(path, reinterpret(UInt8, Int32[100n + 10c + 3h + w for w in 0:2, h in 0:1, c in 0:3, n in 0:4][:]))
    batch = first(Loader("raw:$path?dtype=i32&shape=4x2x3&axes=CHW"; batch_size = 5))
    @test size(batch.data) == (3, 2, 4, 5)
    @test batch.data[3, 2, 4, 5] == 400 + 30 + 3 + 2
    @test string(first(Dataline.fields(Loader("raw:$path?dtype=i32&shape=4x2x3&axes=CHW")))) == "data::Int32 3x2x4x? WHCN"
end

@testset "array code works on views, and BLAS" begin
    rows = Float32[i + j for i in 1:5, j in 1:8]
    loader = Loader(rows; batch_size = 8)
    x = first(loader).data
    weights = Float32[i - j for i in 1:3, j in 1:5]
    @test weights * x == weights * rows && mul!(zeros(Float32, 3, 8), weights, x) == weights * rows
    @test x .+ 1 == rows .+ 1 && sum(x) == sum(rows) && x' == rows' && maximum(x) == 13
    @test reshape(x, :, 4) == reshape(rows, :, 4) && reshape(x, 40) isa Dataline.View && vec(x) == vec(rows)
    @test view(x, :, 2:3) == rows[:, 2:3] && x[:, 2] == rows[:, 2] && weights * view(x, :, 2:3) == weights * rows[:, 2:3]
    @test copyto!(similar(rows), x) == rows && Array(x) == rows && copy(x) isa Matrix{Float32}
    @test convert(Array, x) isa Matrix{Float32} && convert(Matrix{Float32}, x) == rows && similar(x) isa Matrix
    x[2, 3] = 0
    @test x[2, 3] == 0 && rows[2, 3] == 5 # the batch is ours, the data set is not
    @test_throws BoundsError x[6, 1]
end

@testset "every use of a view whose batch was given back throws" begin
    loader = Loader((x = [1.0, 2.0], y = ["a", "b"]); batch_size = 1)
    views = Any[]
    batches = Any[]
    for batch in loader
        push!(views, batch.x, parent(batch.y), batch.y[1])
        push!(batches, batch)
    end
    @test !any(isopen, views) && !any(isopen, batches)
    for view in views, use in (v -> v[1], sum, size, pointer, copy, v -> v .+ v, string, parent, keep, v -> (v[1] = 1))
        @test code_of(() -> use(view)) == Dataline.ERR_WRONG_STATE
    end
    for use in (b -> b.x, b -> b[1], Tuple, keep, Dataline.info, Dataline.sample_indices)
        @test code_of(() -> use(batches[1])) == Dataline.ERR_WRONG_STATE
    end
    @test occursin("keep", thrown(() -> views[1][1]).message)
    @test string(batches[1]) == "Batch (released)"
end

@testset "what is made of a view says so too after its batch, and the loader, are gone" begin
    loader = Loader(reshape(collect(Float32, 1:600_000), 2, 3, 100_000); batch_size = 10_000)
    batch, state = iterate(loader)
    image = batch.data
    made = (view(image, 1:2, 1, 5), view(image, :, :, 3), vec(image), view(image, 7:9), view(view(image, :, :, 1:4), 1, :, :),
        permutedims(image, (2, 1, 3)), PermutedDimsArray(image, (2, 1, 3)), reinterpret(UInt32, image), reshape(image, 6, :))
    @test made[1] == [25, 26] && sum(made[2]) == sum(13:18)
    iterate(loader, state)
    close(loader)
    for (k, one) in enumerate(made)
        k == 6 && continue # a copy
        @test code_of(() -> one[1]) == Dataline.ERR_WRONG_STATE
        @test code_of(() -> sum(one)) == Dataline.ERR_WRONG_STATE
    end
    @test made[6][2] == 3
end

@testset "samples that differ in length are a vector of views" begin
    points = [Float32[1 2; 3 4], zeros(Float32, 2, 0), Float32[5 6 7; 8 9 10]]
    packed = Packed(hcat(points...), [0, 2, 2, 5])
    batch = first(Loader((points = packed, text = ["ab", "", "cde"]); batch_size = 3))
    @test length(batch.points) == 3 && batch.points == points && batch.points[3] isa DenseArray{Float32,2}
    @test parent(batch.points) == hcat(points...) && Dataline.offsets(batch.points) == [0, 2, 2, 5]
    @test String.(batch.text) == ["ab", "", "cde"] && eltype(batch.text) == Dataline.View{UInt8,1}
    @test_throws BoundsError batch.text[4]
end

@testset "windows that overlap are read where they lie" begin
    path = scratch_file("tokens.bin")
    write(path, UInt16.(0:8))
    loader = Loader("tokens:$path?length=4&dtype=u16&views=true"; batch_size = 2)
    (x, y), state = iterate(loader)
    @test x == UInt16[0 4; 1 5; 2 6; 3 7] && y == UInt16[1 5; 2 6; 3 7; 4 8]
    @test x isa Dataline.Windows && strides(x)[1] == 1 && length(x) == 8
    held = keep(x)
    next = iterate(loader, state)
    @test next === nothing && code_of(() -> x[1]) == Dataline.ERR_WRONG_STATE && held[8] == 7
    @test_throws Exception held[1] = 0
end

@testset "a short last batch and an empty one have their own dims" begin
    loader = Loader(ones(Float32, 3, 5); batch_size = 2)
    @test [size(batch.data) for batch in loader] == [(3, 2), (3, 2), (3, 1)]
    loader = Loader(ones(Float32, 3, 1); global_batch_size = 2, world_size = 2, rank = 0)
    @test [size(batch.data) for batch in loader] == [(3, 0)] && isempty(collect(loader)[1].data)
end

@testset "loops are type-stable" begin
    loader = Loader((image = zeros(Float32, 2, 2, 4), label = [1, 2, 3, 4], text = ["a", "b", "c", "d"]); batch_size = 2)
    batch = first(loader)
    @test eltype(loader) == typeof(batch)
    get(b) = (b.image, b[:label], b.text)
    split(b) = ((image, label, _) = b; (image, label))
    @test @inferred(split(batch)) isa Tuple{Dataline.View{Float32,3},Dataline.View{Int64,1}}
    @test @inferred(get(batch)) isa Tuple{Dataline.View{Float32,3},Dataline.View{Int64,1},Ragged{UInt8,1}}
    @test @inferred(Union{Nothing,Tuple{eltype(loader),Nothing}}, iterate(loader)) isa Tuple
end

@testset "a ready batch allocates nothing" begin
    function drain(loader)
        total = 0.0f0
        for (image, label) in loader
            total += image[1] + label[1]
        end
        return total
    end
    few, many = (Loader((image = ones(Float32, 4, n), label = ones(Int, n)); batch_size = 1, num_workers = 0) for n in (10, 1000))
    drain(few), drain(many)
    @test (@allocated drain(many)) == (@allocated drain(few))
end
