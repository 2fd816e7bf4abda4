# Options and transforms come from the library's tables, which are not typed again here.
#
# SPDX-License-Identifier: Apache-2.0

const SOURCES = filter(endswith(".jl"), readdir(joinpath(@__DIR__, "..", "src"); join = true))

@testset "every option of the library is a keyword, with a value of its type" begin
    table = Dataline.options_table()
    @test length(table) >= 20
    for option in table
        @test !isempty(option.doc) && !isempty(option.since) && (option.dataset || option.loader)
        @test option.type in (:bool, :int, :size, :word, :text, :indices, :weights, :lengths) # others need a look
        @test (option.type == :word) == !isempty(option.choices) && Dataline.option(option.key) == option.default
        value = option.type == :bool ? true : option.type == :word ? Symbol(last(option.choices)) :
            option.range !== nothing ? last(option.range) : option.type == :text ? "cpu" :
            option.type == :size ? "64MiB" : nothing
        value === nothing || @test Dataline.option(option.key; option.key => value) != ""
        option.type in (:indices, :weights, :lengths) || @test code_of(() -> Dataline.option(option.key; option.key => [1])) ==
                                                     Dataline.ERR_BAD_OPTION
    end
end

@testset "auto is what the launcher says when the loader is made" begin
    loader(; settings...) = Dataline.Loader(Dataline.Dataset((x = collect(1:30),)); global_batch_size = 6, epochs = 1,
                                            shuffle = true, settings...)
    stream(; settings...) = [index for batch in loader(; settings...) for index in batch.x]
    withenv("RANK" => "2", "WORLD_SIZE" => "3", "LOCAL_RANK" => nothing, "LOCAL_WORLD_SIZE" => nothing) do
        @test Dataline.launcher() == (family = :torchrun, rank = 2, world_size = 3, local_rank = nothing,
                                      local_world_size = nothing)
        @test stream(rank = :auto, world_size = :auto) == stream(rank = 2, world_size = 3)
        @test length(stream(rank = :auto, world_size = :auto)) == 10
    end
    withenv("RANK" => "2", "WORLD_SIZE" => nothing) do
        @test code_of(Dataline.launcher) == Dataline.ERR_INVALID_ARGUMENT
        @test code_of(() -> stream(rank = :auto, world_size = :auto)) == Dataline.ERR_INVALID_ARGUMENT
        @test length(stream()) == 30 # numbers ask nobody
    end
end

@testset "a new option needs no edit: no source has a list of keys" begin
    code = join(replace(replace(read(file, String), r"\"\"\".*?\"\"\""s => ""), r"#.*" => "") for file in SOURCES)
    # What a keyword of MLUtils becomes, and what a Reader needs; nothing else knows a key.
    # (`weights` and `lengths` are also the names of options' types.)
    known = [:batch_size, :drop_last, :seed, :num_workers, :weights, :lengths]
    written = filter(key -> occursin(Regex(":$key\\b|\"$key\""), code), [option.key for option in Dataline.options_table()])
    @test issubset(written, known)
end

@testset "values of Julia's types" begin
    @test Dataline.option(:batch_size; batch_size = 0x08) == "8" && Dataline.option(:shuffle; shuffle = true) == "full"
    @test Dataline.option("replacement"; replacement = false) == "false"
    @test Dataline.option(:last_batch; last_batch = :pad) == "pad"
    @test code_of(() -> Dataline.option(:seed; seed = typemax(UInt64))) == Dataline.ERR_BAD_OPTION
    @test code_of(() -> Dataline.option(:seed; seed = nothing)) == Dataline.ERR_BAD_OPTION
    problem = thrown(() -> Loader(numbers(1); batchsiz = 3))
    @test problem.code == Dataline.ERR_UNKNOWN_OPTION && occursin("batch_size", problem.message)
    for value in (["image", "label"], [1, 2], ("image",), nothing, print, "image") # the name before the type
        wrong = thrown(() -> Loader(numbers(1); fields = value))
        @test wrong.code == Dataline.ERR_UNKNOWN_OPTION && occursin("it is a key of URIs", wrong.message)
    end
end

@testset "every operator has a doc and its arguments" begin
    table = Dataline.transforms_table()
    named(name) = only(filter(operator -> operator.name == name, table))
    @test all(operator -> !isempty(operator.doc), table) && !isempty(named("normalize").arguments)
    @test only(named("cast").arguments).default === nothing
    shown = sprint(Dataline.describe)
    @test all(option -> occursin(option.doc, shown), Dataline.options_table())
end

@testset "the library says what it is" begin
    @test v"0.2" <= Dataline.version() < v"0.3" && !isempty(Dataline.build_info())
end

@testset "a keyword of MLUtils and the option it stands for must not contradict each other" begin
    make(; more...) = Loader(numbers(10); more...)
    for (settings, said) in ((batchsize = 64, batch_size = 32) => "batchsize and batch_size contradict each other: 64 and 32",
        (batch_size = 32, batchsize = 64) => "batch_size and batchsize contradict each other: 32 and 64",
        (partial = true, drop_last = true) => "partial and drop_last contradict each other",
        (partial = false, last_batch = :pad) => "drop_last and last_batch contradict each other",
        (rng = 1, seed = 2) => "rng and seed contradict each other: 1 and 2")
        for source in (numbers(10), "raw:" * scratch_file("nosuch") * "?dtype=u8", [1, 2, 3])
            problem = thrown(() -> Loader(source; settings...))
            source isa String && haskey(settings, :last_batch) && continue # the library's own, which looks at the file first
            @test problem.code == Dataline.ERR_BAD_OPTION && occursin(said, problem.message)
        end
    end
    @test length(make(batchsize = 5, batch_size = "5")) == 2 # the same is no contradiction
    @test length(make(batchsize = 4, partial = false, drop_last = true, rng = 3, seed = 3)) == 2
end
