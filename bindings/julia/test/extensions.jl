# Extensions in Julia: the cases of tests/extensions, errors, lifetimes, tables.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Extensions, File, add_format!, add_operator!, add_storage!, load_plugin!, refuse, uniform

const CASES = normpath(joinpath(@__DIR__, "..", "..", "..", "tests", "extensions"))
const MAGIC = b"DLREC1\n\0"

# ---- The extensions of tests/extensions/README.md ----

function open_dlrec(request)
    file = File(request)
    header = read(file, 0, min(16, filesize(file)))
    count, width = length(header) == 16 ? Int.(ltoh.(reinterpret(UInt32, header[9:16]))) : (0, 0)
    good = length(header) == 16 && header[1:8] == MAGIC && width > 0 && filesize(file) == 16 + count * width
    good || throw(DatalineError(Dataline.ERR_CORRUPT, "$(request.path): not a dlrec file, or a part of one"))
    function row(index)
        bytes = read(file, 16 + index * width, width)
        bytes[1] == 255 && error("the row is marked bad")
        return bytes
    end
    labelled(index) = (bytes = row(index); (x = bytes, label = sum(Int64, bytes)))
    files = occursin("://", request.path) ? String[] : [request.path] # an object is known to the storage alone
    request.values.labels == "sum" &&
        return Dataset(Dataline.Reader(labelled, count; x = (UInt8, width), label = Int64, files = files))
    return Dataset(Dataline.Reader(index -> (x = row(index),), count; x = (UInt8, width), files = files))
end

function prepare_offset(use)
    use.field.ragged || use.field.eltype !== UInt8 ? refuse("expected a dense field of u8") : nothing
    for name in (:value, :noise)
        use.arguments[name] isa Number || refuse("expected a number"; argument = name)
    end
    value, noise = use.arguments[:value], use.arguments[:noise]
    noise < 0 && refuse("expected 0 or more"; argument = :noise)
    use.eltype = Float32
    use.draws = noise > 0
    return (x, row) -> Float32.(x .+ value .+ noise * (noise > 0 ? uniform(row) : 0.0))
end

function open_xor(request)
    path = request.path[length("xor://")+1:end]
    endswith(path, ".gone") && throw(DatalineError(Dataline.ERR_NOT_FOUND, "no such object"))
    file = File(request, path)
    return (size = filesize(file), read = (offset, count) -> read(file, offset, count) .⊻ 0x5A)
end

function samples()
    made = Extensions()
    sniff(path, bytes, size) = length(bytes) >= 16 && bytes[1:8] == MAGIC ? 3 : 0
    add_format!(open_dlrec, made, "dlrec"; keys = (labels = ("none|sum", "none", "sum: a field label"),),
        suffixes = [".dlrec"], sniff = sniff, doc = "rows of bytes")
    add_operator!(prepare_offset, made, "offset"; arguments = (value = "number", noise = ("number", "0")),
        doc = "Adds a number, and noise times a draw.")
    return add_storage!(open_xor, made, "xor"; doc = "files with every byte XORed with 0x5A")
end

fnv(hash, bytes) = foldl((h, byte) -> (h ⊻ byte) * 0x100000001B3, bytes; init = hash)
bytes_of(values) = reinterpret(UInt8, vec(copy(values)))

# All epochs of a case. Julia code needs num_workers=0.
function result_of(uri, options, extensions)
    settings = Dict{Symbol,Any}(Symbol(a) => String(b) for (a, b) in (split(one, '='; limit = 2) for one in split(options)))
    settings[:num_workers] = 0
    settings[:extensions] = extensions
    hash = 0xCBF29CE484222325
    try
        loader = Loader(uri; settings...)
        for _ in 1:parse(Int, get(settings, :epochs, "1")), batch in loader
            hash = fnv(hash, bytes_of(Dataline.sample_indices(batch)))
            for field in Dataline.fields(loader)
                hash = fnv(hash, bytes_of(getproperty(batch, field.name)))
            end
        end
    catch problem
        problem isa DatalineError || rethrow()
        return "$(problem.code) $(problem.message)"
    end
    return string(hash; base = 16, pad = 16)
end

if isdir(CASES)
    lines = filter(line -> !startswith(line, '#') && !isempty(line), readlines(joinpath(CASES, "cases.txt")))
    @test length(lines) >= 20
    @testset "$(first(split(line, " | ")))" for line in lines
        _, uri, rest = strip.(split(line, '|'; limit = 3))
        at = findlast('|', rest)
        options, expected = strip(rest[1:prevind(rest, at)]), strip(rest[nextind(rest, at):end])
        got = result_of(replace(uri, '@' => joinpath(CASES, "files")), options, samples())
        if startswith(expected, "DL_")
            code, said = split(expected, ' '; limit = 2)
            @test first(split(got, ' ')) == code
            @test occursin(said, got)
        else
            @test got == expected
        end
    end
else
    @info "left out: the cases of tests/extensions, for they are not here"
end

# ---- Errors ----

failing(problem) = (made = Extensions();
    add_format!(_ -> throw(problem), made, "failing");
    add_operator!(_ -> throw(problem), made, "failing");
    add_operator!(_ -> ((_, _) -> throw(problem)), made, "failing_rows");
    add_storage!(_ -> throw(problem), made, "failing"))

@testset "what a function throws is the error, with its text and meaning" begin
    for (problem, code) in (ErrorException("no luck") => Dataline.ERR_READER,
        DatalineError(Dataline.ERR_CHANGED, "no luck") => Dataline.ERR_CHANGED,
        SystemError("no luck", Base.Libc.ENOENT) => Dataline.ERR_NOT_FOUND,
        SystemError("no luck", Base.Libc.EACCES) => Dataline.ERR_PERMISSION,
        SystemError("no luck", Base.Libc.EIO) => Dataline.ERR_IO)
        for uri in ("failing:x", "npy:failing://x")
            found = thrown(() -> Dataset(uri; extensions = failing(problem)))
            @test found.code == code && occursin("no luck", found.message)
        end
        found = thrown(() -> Loader(numbers(3); transform = "failing", num_workers = 0, extensions = failing(problem)))
        @test occursin("no luck", found.message)
        loader = Loader(numbers(3); transform = "failing_rows", num_workers = 0, extensions = failing(problem))
        found = thrown(() -> first(loader))
        machine = code == Dataline.ERR_IO # which is no sample's fault
        @test found.code == (machine ? code : Dataline.ERR_BAD_SAMPLE) && occursin("no luck", found.message)
    end
end

@testset "what functions give is checked" begin
    made = Extensions()
    add_format!(_ -> 3, made, "none")
    add_operator!(_ -> ((_, _) -> [1, 2]), made, "long")
    add_operator!(_ -> ((_, _) -> "text"), made, "words")
    add_storage!(_ -> (size = 1000, read = (_, count) -> zeros(UInt8, count - 1)), made, "short")
    add_storage!(_ -> nothing, made, "none")
    for (uri, said) in ("none:x" => "expected a Dataset", "npy:short://x" => "bytes, got", "npy:none://x" => "read")
        @test occursin(said, thrown(() -> Dataset(uri; extensions = made)).message)
    end
    for transform in ("long", "words")
        loader = Loader(numbers(3); transform = transform, num_workers = 0, extensions = made)
        @test code_of(() -> first(loader)) == Dataline.ERR_BAD_SAMPLE
    end
    @test code_of(() -> add_format!(_ -> 3, made, "npy")) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataset("none:x"; extensions = 3)) == Dataline.ERR_BAD_OPTION
end

@testset "a loader that needs Julia's threads says so, and others do not" begin
    made = samples()
    for make in (() -> Loader(numbers(3); transform = "offset(1)", extensions = made),
        () -> Loader("dlrec:" * joinpath(CASES, "files", "a.dlrec"); extensions = made),
        () -> Loader("npy:xor://" * joinpath(CASES, "files", "n.npy"); extensions = made))
        problem = thrown(make)
        @test problem.code == Dataline.ERR_BAD_OPTION && occursin("num_workers=0", problem.message)
    end
    @test length(Loader(numbers(64); transform = "cast(f32)", extensions = made)) == 2
    with_arrays = Extensions()
    add_format!(_ -> numbers(64), with_arrays, "arrays")
    @test length(Loader("arrays:x"; extensions = with_arrays)) == 2
end

@testset "what a thread of the library opens is not opened by Julia" begin
    for made in (add_format!(_ -> numbers(3), Extensions(), "arrays"), add_storage!(open_xor, Extensions(), "xor"))
        problem = thrown(() -> Dataline.open_async("npy:nowhere.npy"; extensions = made))
        @test problem.code == Dataline.ERR_BAD_OPTION && occursin("Dataset(uri)", problem.message)
    end
    bytes = scratch_file("bytes")
    write(bytes, "abc")
    only_an_operator = add_operator!(prepare_offset, Extensions(), "offset"; arguments = (value = "number",))
    @test length(fetch(Dataline.open_async("raw:$bytes?dtype=u8&shape=1"; extensions = only_an_operator))) == 3
end

# ---- Lifetimes ----

@testset "functions are let go when nothing needs them" begin
    before = length(Dataline.LOANS)
    let made = samples()
        uri = "xor://" * joinpath(CASES, "files", "x.dlrec")
        for batch in Loader(uri; transform = "offset(1)", num_workers = 0, extensions = made)
            @test size(batch.x, 1) == 5
        end
    end
    @test eventually(() -> length(Dataline.LOANS) <= before)
end

@testset "a request ends with its call, and a dataset that was returned stays its owner's" begin
    made, seen, kept = Extensions(), Ref{Any}(nothing), numbers(3)
    add_format!(request -> (seen[] = request; kept), made, "kept")
    close(Dataset("kept:x"; extensions = made))
    @test length(kept) == 3 && isopen(kept)
    @test code_of(() -> File(seen[])) == Dataline.ERR_WRONG_STATE
    @test code_of(() -> Dataset(seen[], "kept:y")) == Dataline.ERR_WRONG_STATE
end

@testset "a format opens others with the caller's extensions" begin
    made = samples()
    add_format!(request -> Dataset(request, "dlrec:xor://" * request.path), made, "nested")
    @test length(Dataset("nested:" * joinpath(CASES, "files", "x.dlrec"); extensions = made)) == 100
end

# ---- Operators, tables, plug-ins ----

@testset "rows come as the field is and may leave with any length" begin
    made, seen = Extensions(), []
    add_operator!(made, "letters"; arguments = (size = "shape", mode = ("word", "fast"), limit = ("number", "none"))) do use
        push!(seen, (use.arguments, use.given))
        use.eltype, use.size, use.ragged, use.max_bytes = UInt8, [-1], true, 64
        return (x, row) -> (push!(seen, (x, row.slot, row.epoch, row.seed)); fill(UInt8('a'), x[1, 1]))
    end
    data = Dataset((x = reshape(Int32.(0:11), 2, 2, 3),))
    loader = Loader(data; transform = "letters(3x4, mode=slow)", num_workers = 0, seed = 5, extensions = made)
    batch = first(loader)
    @test length.(collect(batch.x)) == [0, 4, 8]
    @test seen[1] == (Dict(:size => [3.0, 4.0], :mode => "slow", :limit => nothing), [:size, :mode])
    @test seen[3] == (Int32[4 6; 5 7], 1, 0, UInt64(5))
end

@testset "tables have the library's, and then what was added" begin
    made = samples()
    @test Dataline.formats_table(made)[1:end-1] == Dataline.formats_table()
    format = last(Dataline.formats_table(made))
    @test format.name == "dlrec"
    @test only(format.keys) == (name = "labels", values = "none|sum", default = "none", doc = "sum: a field label")
    @test Dataline.transforms_table(made)[1:end-1] == Dataline.transforms_table()
    @test [a.default for a in last(Dataline.transforms_table(made)).arguments] == [nothing, "0"]
    @test [s.scheme for s in Dataline.storages_table(made)] == ["xor"]
    @test "trailing" in [key.name for key in first(Dataline.formats_table()).keys]
end

const PLUGIN = joinpath(get(ENV, "DATALINE_LIB_DIR", joinpath(@__DIR__, "..", "..", "..", "build", "release", "lib")),
    "libdataline-samples.so")
if isfile(PLUGIN)
    @testset "a plug-in gives what Julia gives, with workers" begin
        made = load_plugin!(Extensions(), PLUGIN)
        @test last(Dataline.formats_table(made)).name == "dlrec"
        uri = "xor://" * joinpath(CASES, "files", "x.dlrec")
        options = "batch_size=10 epochs=1 transform=offset(0.25,noise=1) seed=5"
        @test result_of(uri, options, made) == result_of(uri, options, samples())
        @test length(Loader(uri; transform = "offset(1)", num_workers = 2, extensions = made)) == 4
        @test code_of(() -> load_plugin!(made, PLUGIN)) == Dataline.ERR_INVALID_ARGUMENT
    end
else
    @info "left out: the plug-in of tests/extensions, which was not built"
end

@testset "a plug-in that is not there is said" begin
    problem = thrown(() -> load_plugin!(Extensions(), "surely_not_there"))
    @test problem.code == Dataline.ERR_NOT_FOUND && occursin("libdataline-surely_not_there", problem.message)
end
