# Values of readers, indices, weights and options: with the value that they have, or refused by name.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Reader

struct Day # as a date is: bits, and no number
    number::Int
end

# A batch of two samples of these values, in a field of this type.
read_two(field, first_value, second_value; settings...) =
    first(Loader(Reader(i -> (x = i == 0 ? first_value : second_value,), 2; x = field); num_workers = 0, batch_size = 2)).x

@testset "a reader's values arrive as an array of that type stores them" begin
    for (type, values) in (Bool => (true, 0), Int64 => (1, 2.0), UInt8 => (255, 0), Float64 => (0.5, 2^53), Float32 => (0.1, Inf),
        Float64 => (1, 1 // 2), Float64 => (NaN, π), ComplexF64 => (1, 2im), Int64 => (big(3), true))

        @test isequal(collect(read_two(type, values...)), type[values...])
    end
    @test read_two((Float32, 2), [1, 2], view([0.5, 9, 4], 1:2:3)) == [1 0.5; 2 4]
    @test read_two((Bool, 2), [true, false], trues(2)) == [1 1; 0 1]
end

@testset "a value that the type does not hold makes its sample bad" begin
    for (field, good, wrong) in ((Bool, true, 2), (Bool, true, 0.5), (Int64, 1, 1.5), (Int64, 1, NaN), (Int64, 1, big(2)^63),
        (UInt8, 1, 300), (UInt8, 1, -1), (Float64, 0.5, 2^53 + 1), (Float64, 0.5, big(10)^400), (Float64, 0.5, big"1e400"),
        (Float32, 0.5, 1e300), (Float32, 0.5, 16777217), (Float16, 1, 1e6), (Dataline.BFloat16, 1, 257), (Int64, 1, missing),
        (Int64, 1, nothing), (Int64, 1, Day(2020)), (Int64, 1, 'a'), (Int64, 1, "a"), (Int64, 1, 1 // 2), (Float64, 1, 1im))

        problem = thrown(() -> read_two(field, good, wrong))
        @test problem.code == Dataline.ERR_BAD_SAMPLE && problem.sample == 1
        @test occursin("field 'x'", problem.message) && occursin("($(typeof(wrong))) does not fit $field", problem.message)
        array = thrown(() -> read_two((field, 2), fill(good, 2), Any[good, wrong]))
        @test array.sample == 1 && occursin("does not fit $field", array.message)
    end
    extra = thrown(() -> first(Loader(Reader(i -> (x = 1, y = 2), 1; x = Int64); num_workers = 0)))
    @test occursin("no field 'y'", extra.message)
end

@testset "booleans and what is no whole number are no indices" begin
    dataset = numbers(4)
    takes = (indices -> Dataline.subset(dataset, indices), indices -> Loader(dataset; sample_indices = indices),
        indices -> Dataline.set_indices!(Loader(dataset; sample_indices = [0, 1]), indices))
    for take in takes
        for wrong in ([true, false], trues(4), Any[0, true], [1.0, 2.0], [1.5], [typemax(UInt64)], [missing, 1], ["1"],
            [Day(2020)])

            @test code_of(() -> take(wrong)) == Dataline.ERR_INVALID_ARGUMENT
        end
        @test occursin("findall(mask) .- 1", thrown(() -> take(trues(4))).message)
        for right in ([3, 1], Int32[3, 1], 0:1, Any[3, 1], Union{Missing,Int}[3, 1])
            @test take(right) !== missing
        end
    end
    mask = [true, false, true, true]
    @test dataset[mask].x == (0:3)[mask] && dataset[findall(mask)].x == [0, 2, 3]
    @test thrown(() -> dataset[trues(3)]) isa BoundsError && thrown(() -> dataset[true]) isa ArgumentError
end

@testset "weights and lengths are numbers, and shares may have names" begin
    dataset = numbers(4)
    for wrong in (trues(4), [1, missing, 1, 1], [1im, 1, 1, 1], ["1", "1", "1", "1"])
        @test code_of(() -> Loader(dataset; weights = wrong)) == Dataline.ERR_INVALID_ARGUMENT
    end
    @test code_of(() -> Loader(dataset; weights = [1, NaN, 1, 1])) == Dataline.ERR_OUT_OF_RANGE
    @test length(Loader(dataset; weights = [1 // 1, 1, 1, 1])) == 1
    for wrong in (trues(4), [1.5, 1, 1, 1])
        @test code_of(() -> Loader(dataset; lengths = wrong, bucket_edges = "4")) == Dataline.ERR_INVALID_ARGUMENT
    end
    shares(weights) = [part.share_asked for part in Dataline.parts(Dataline.mix((a = dataset, b = dataset); weights = weights))]
    @test shares((1, 3)) == shares((b = 3, a = 1)) == [0.25, 0.75]
    @test thrown(() -> shares((a = 1, c = 3))) isa ArgumentError
    @test code_of(() -> shares((true, false))) == Dataline.ERR_INVALID_ARGUMENT
end

@testset "options and keywords are read by the table, never by truth" begin
    dataset = numbers(4)
    for wrong in ((partial = "false",), (partial = 1,), (rng = true,), (rng = "x",), (shuffle = "maybe",), (shuffle = 1,),
        (drop_last = "no",), (drop_last = 1,), (batchsize = true,), (batchsize = 2.0,), (cache = true,), (trace = 5,),
        (shuffle = missing,), (seed = 1.5,))

        @test code_of(() -> Loader(dataset; wrong...)) == Dataline.ERR_BAD_OPTION
    end
    for (wrong, words) in ((identity, "operator (add_operator!)"), (("flatten",), "write one text, \"flatten\""),
        (["flatten", "cast(f32)"], "write one text, \"flatten, cast(f32)\""))

        @test occursin(words, thrown(() -> Loader(dataset; transform = wrong)).message)
    end
    @test occursin("write one text, \"2,4\"", thrown(() -> Loader(dataset; bucket_edges = [2, 4])).message)
    @test thrown(() -> Dataline.next!(Loader(dataset); timeout = NaN)) isa ArgumentError
    @test Dataline.next!(Loader(dataset); timeout = 1e300) isa Dataline.Batch
end

@testset "arrays that are no numbers are refused" begin
    for wrong in ([Day(2020)], [1, missing], Any[1, 2], [missing], [[1, missing], [2]], [1 // 2], ['a'])
        @test code_of(() -> Dataset((x = wrong,))) == Dataline.ERR_UNSUPPORTED
    end
end
