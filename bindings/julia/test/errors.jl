# Errors: code, message, sample, column, the system's number.
#
# SPDX-License-Identifier: Apache-2.0

@testset "a missing file is named with what the system said" begin
    problem = thrown(() -> Dataset("npy:/nowhere/a.npy"))
    @test problem.code == Dataline.ERR_NOT_FOUND && problem.errno == Base.Libc.ENOENT
    @test occursin("/nowhere/a.npy", problem.message) && problem.sample === problem.column === nothing
    shown = sprint(showerror, problem)
    @test startswith(shown, "DatalineError (DL_ERR_NOT_FOUND): ") && occursin("No such file", shown)
end

@testset "what does not parse points at its column" begin
    problem = thrown(() -> Loader(numbers(4); transform = "cast(f32), nosuch"))
    @test (problem.code, problem.column) == (Dataline.ERR_BAD_TRANSFORM, 12)
    @test occursin("column 12", sprint(showerror, problem))
    problem = thrown(() -> Dataset("nosuch:file"))
    @test problem.code == Dataline.ERR_BAD_URI && problem.column !== nothing
end

@testset "errors of each band" begin
    @test code_of(() -> Loader(numbers(1000); memory_budget = 1, batch_size = 1000)) == Dataline.ERR_OVER_BUDGET
    @test code_of(() -> Dataline.load_state!(Loader(numbers(4)), "no state")) == Dataline.ERR_BAD_STATE
    write(scratch_file("corrupt.npy"), "\x93NUMPY\x01\x00\x10\x00not a header     ")
    @test code_of(() -> Dataset("npy:" * scratch_file("corrupt.npy"))) == Dataline.ERR_CORRUPT
    @test thrown(() -> Dataset("npy:a\0b")) isa ArgumentError # text with a NUL, refused by Julia
end

@testset "every code of the header is a constant, and says its name" begin
    codes = filter(name -> startswith(string(name), "DL_ERR_"), names(Dataline; all = true))
    @test length(codes) >= 30
    for name in codes
        status = getfield(Dataline, Symbol(string(name)[4:end]))
        @test status === Status(getfield(Dataline, name)) && string(status) == string(name)
    end
    @test occursin("DL_CANCELLED", repr(Dataline.CANCELLED))
    @test string(Status(-12345)) isa String # one of a later library
end

@testset "an error leaves the loader as it was" begin
    loader = Loader(numbers(6); batch_size = 2)
    @test code_of(() -> Dataline.seek!(loader, -1)) == Dataline.ERR_OUT_OF_RANGE
    @test epoch_of(loader) == [[0, 1], [2, 3], [4, 5]]
end
