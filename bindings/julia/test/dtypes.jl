# Item types, bf16 above all.
#
# SPDX-License-Identifier: Apache-2.0

@testset "every dtype of the library has a Julia type of its size" begin
    numbers = filter(name -> startswith(string(name), "DL_DTYPE_"), names(Dataline; all = true))
    @test length(numbers) == length(Dataline.DTYPES)
    for (number, type) in Dataline.DTYPES
        @test sizeof(type) == Dataline.dl_dtype_bytes(number) && Dataline.dtype_of(type) == number
        @test Dataline.type_of(number) === type
    end
    @test code_of(() -> Dataline.type_of(Int32(99))) == Dataline.ERR_UNSUPPORTED
end

@testset "bf16 rounds as the library does, and prints, compares, converts" begin
    values = Float32[0, -0.0, 1, -1, 1.00390625, 1.01171875, 3.1415927, 1f-40, 3f38, Inf, -Inf]
    batch = first(Loader(values; batch_size = length(values), transform = "cast(bf16)"))
    @test eltype(batch.data) == BFloat16 && reinterpret(UInt16, copy(batch.data)) == [v.bits for v in BFloat16.(values)]
    @test BFloat16(1.00390625) == BFloat16(1) # a tie goes to even
    @test isnan(BFloat16(NaN32)) && Float32(BFloat16(1.5)) === 1.5f0 && Float64(BFloat16(-2)) === -2.0
    @test BFloat16(1) < BFloat16(2) <= BFloat16(2) == 2.0f0 && string(BFloat16(0.5)) == "BFloat16(0.5)"
    @test hash(BFloat16(1)) == hash(1.0f0) && promote(BFloat16(1), 2.0f0) === (1.0f0, 2.0f0) && isfinite(BFloat16(1))
    @test first(Loader(BFloat16.([1, 2]); batch_size = 2, transform = "cast(f32)")).data == [1, 2]
end

@testset "f16 is Julia's" begin
    @test first(Loader([0.1, 65504.0]; batch_size = 2, transform = "cast(f16)")).data == Float16[0.1, 65504]
end
