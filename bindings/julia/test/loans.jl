# What is lent to the library is not copied, not collected, and forgotten once.
#
# SPDX-License-Identifier: Apache-2.0

# Nothing of what is tested may stay on this function's stack, so each test makes its objects in functions of their own.
lent_now() = Set(keys(Dataline.LOANS)) # other tests' loans may still be out, and be returned meanwhile
is_there(watch::WeakRef) = watch.value !== nothing # apart, for @test keeps the values it compared
all_returned(before) = eventually(() -> issubset(lent_now(), before))

@testset "arrays are read in place and kept until all that came from them is gone" begin
    before = lent_now()
    function lend_one()
        values = collect(Int64, 1:1000)
        watch = WeakRef(values)
        dataset = Dataset((x = values,))
        values[1] = -7 # read where it lies
        part = Dataline.subset(Dataline.concat(dataset, dataset), [0, 1, 1999])
        loader = Loader(part; epochs = 1)
        foreach(close, (dataset, part))
        return loader, watch
    end
    function use(loader)
        @test !issubset(lent_now(), before) && epoch_of(loader) == [[-7, 2, 1000]]
        close(loader)
    end
    loader, watch = lend_one()
    foreach(_ -> (GC.gc(); yield()), 1:3)
    @test is_there(watch)
    use(loader)
    @test all_returned(before)
    @test eventually(() -> !is_there(watch))
end

@testset "many loans returned at once, some by the collector" begin
    before = lent_now()
    make(k) = Loader(collect(Int64, k:k+9); batch_size = 5, num_workers = k % 2)
    foreach(k -> close(make(k)), 1:50)
    foreach(k -> first(make(k)), 1:50)
    @test all_returned(before)
end

@testset "indices and weights" begin
    before = lent_now()
    function use()
        indices, weights = [2, 1], [0.0, 1.0, 0.0]
        @test epoch_of(Loader(numbers(3); sample_indices = indices)) == [[2, 1]]
        loader = Loader(numbers(3); weights = weights)
        Dataline.stats(loader)
        close(loader)
    end
    use()
    @test all_returned(before)
end

@testset "a call that fails takes no loan" begin
    before = lent_now()
    @test code_of(() -> Dataset((x = [1], y = [1, 2]))) == Dataline.ERR_MISMATCH
    @test code_of(() -> Dataline.subset(numbers(3), [3])) == Dataline.ERR_OUT_OF_RANGE
    @test code_of(() -> Loader(numbers(3); sample_indices = [9])) == Dataline.ERR_OUT_OF_RANGE
    @test code_of(() -> Dataset(Dataline.Reader(identity, -5; x = Int64))) == Dataline.ERR_INVALID_ARGUMENT
    @test all_returned(before)
end

@testset "a batch does not keep what was lent" begin
    before = lent_now()
    hold() = (loader = Loader([5, 6, 7]; batch_size = 3); batch = keep(first(loader)); close(loader); batch)
    batch = hold()
    @test all_returned(before) && batch.data == [5, 6, 7]
end
