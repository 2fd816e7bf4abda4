# Tensors of DLPack, out of batches and into datasets.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: DLPackTensor, dlpack

@testset "the structs have the sizes of dlpack.h" begin
    @test sizeof(Dataline.DLTensor) == 48 && sizeof(Dataline.DLManagedTensor) == 64
    @test sizeof(Dataline.DLManagedTensorVersioned) == 80 && fieldoffset(Dataline.DLManagedTensorVersioned, 5) == 32
end

@testset "a field goes out without a copy, and holds its batch past the loader" begin
    image = reshape(collect(Float32, 1:60), 2, 3, 10)
    loader = Loader((image = image, label = collect(Int64, 1:10)); batch_size = 5, epochs = 1)
    batch = Dataline.next!(loader)
    for versioned in (false, true)
        tensor = dlpack(batch, :image; versioned = versioned)
        @test (size(tensor), eltype(tensor), ndims(tensor), Dataline.device(tensor)) == ((2, 3, 5), Float32, 3, "cpu")
        raw = Dataline.managed(tensor).tensor
        @test Ptr{Float32}(raw.data + raw.byte_offset) == pointer(batch.image)
        @test [unsafe_load(raw.strides, k) for k in 1:3] == [6, 2, 1]
        @test occursin("2x3x5 Float32 on cpu", repr(tensor))
        close(tensor)
    end
    tensor = dlpack(batch, :label)
    address = Ptr{Int64}(Dataline.managed(tensor).tensor.data)
    close(batch)
    @test Dataline.stats(loader).leases_held == 1
    close(loader)
    @test unsafe_wrap(Array, address, (5,)) == 1:5
    close(tensor)
    close(tensor)
    @test !isopen(tensor) && code_of(() -> size(tensor)) == Dataline.ERR_WRONG_STATE
end

@testset "a tensor that was taken is its taker's, one that nobody has is given back" begin
    loader = Loader(numbers(8); batch_size = 4, epochs = 2)
    batch = Dataline.next!(loader)
    tensor = dlpack(batch, :x)
    pointer = take!(tensor)
    @test !isopen(tensor) && code_of(() -> take!(tensor)) == Dataline.ERR_WRONG_STATE
    drop(batch) = (dlpack(batch, :x); nothing)
    drop(batch)
    close(batch)
    @test Dataline.stats(loader).leases_held == 1
    close(DLPackTensor(pointer))
    @test eventually(() -> Dataline.stats(loader).leases_held == 0)
end

@testset "read-only fields go out by DLPack 1.x alone; no such field is an error" begin
    path = scratch_file("dlpack_tokens")
    write(path, UInt16.(1:101))
    batch = Dataline.next!(Loader("tokens:$path?dtype=u16&length=10&views=true"; batch_size = 2))
    @test code_of(() -> dlpack(batch, :x)) == Dataline.ERR_UNSUPPORTED
    tensor = dlpack(batch, :x; versioned = true)
    @test Dataline.managed(tensor).flags & 1 == 1 && eltype(tensor) == UInt16
    @test code_of(() -> dlpack(batch, :z)) == Dataline.ERR_NO_SUCH_FIELD
end

# A tensor of another library: its memory, and how often it was given back.
const GIVEN_BACK = Threads.Atomic{Int}(0)
deleted(::Ptr{Cvoid}) = (Threads.atomic_add!(GIVEN_BACK, 1); nothing)
function foreign(items::Vector, shape; strides = C_NULL, device = 1, code = 0x00, bits = 64)
    kept = Any[items, Int64[shape...], strides]
    at(values) = values === C_NULL ? Ptr{Int64}(C_NULL) : pointer(values)
    raw = Dataline.DLTensor(pointer(items), (device, 0), length(shape), (code, bits, 1), pointer(kept[2]), at(strides), 0)
    managed = Ref(Dataline.DLManagedTensor(raw, C_NULL, @cfunction(deleted, Cvoid, (Ptr{Cvoid},))))
    return DLPackTensor(Base.unsafe_convert(Ptr{Dataline.DLManagedTensor}, managed)), push!(kept, managed)
end

@testset "a tensor of another library is a field, read where it lies, and given back once" begin
    GIVEN_BACK[] = 0
    items = collect(Int64, 1:12)
    function use()
        tensor, kept = foreign(items, (4, 3); strides = Int64[3, 1])
        @test size(tensor) == (3, 4)
        dataset = Dataset((x = tensor,))
        items[1] = -1
        loader = Loader(dataset; batch_size = 2, epochs = 1)
        @test GC.@preserve(kept, epoch_of(loader)) == [[-1 4; 2 5; 3 6], [7 10; 8 11; 9 12]]
        foreach(close, (loader, dataset))
        return kept
    end
    kept = use()
    @test eventually(() -> GIVEN_BACK[] == 1)
    GC.@preserve kept GC.gc()
    @test GIVEN_BACK[] == 1
end

@testset "what cannot be read in place is refused and says why" begin
    items = collect(Int64, 1:12)
    for (more, text) in (((device = 2,), "cuda:0"), ((strides = Int64[1, 4],), "contiguous items"), ((code = 0x03,), "code 3"))
        tensor, kept = foreign(items, (4, 3); more...)
        problem = GC.@preserve kept thrown(() -> Dataset((x = tensor,)))
        @test problem isa DatalineError && occursin(text, problem.message)
        GC.@preserve kept close(tensor)
    end
    tensor, kept = foreign(items, ())
    @test occursin("at least one dim", GC.@preserve(kept, thrown(() -> Dataset((x = tensor,)))).message)
    close(tensor)
    @test code_of(() -> DLPackTensor(C_NULL)) == Dataline.ERR_INVALID_ARGUMENT
    newer = UInt32[2, 0]
    @test code_of(() -> GC.@preserve newer DLPackTensor(pointer(newer); versioned = true)) == Dataline.ERR_UNSUPPORTED
end
