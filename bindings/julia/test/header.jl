# The declarations are those of dataline.h: C says what it has.
#
# SPDX-License-Identifier: Apache-2.0

const HEADER = normpath(joinpath(@__DIR__, "..", "..", "..", "capi", "dataline.h"))
const COMPILER = something(Sys.which("cc"), Sys.which("gcc"), Sys.which("clang"), Some(nothing))

# CView => dl_view
c_name(T) = "dl" * replace(string(nameof(T))[2:end], r"[A-Z]" => letter -> "_" * lowercase(letter))
const STRUCTS = [Dataline.CError, Dataline.COptionInfo, Dataline.CTransformInfo, Dataline.CArgumentInfo, Dataline.CView,
    Dataline.CArray, Dataline.CReaderCell, Dataline.CReader, Dataline.CStats, Dataline.CImageInfo,
    Dataline.CPlanStage, Dataline.CBadSample, Dataline.CBatchInfo]

function c_program(names)
    lines = ["#include <dataline.h>", "#include <stdio.h>", "int main(void) {"]
    for T in STRUCTS
        name = c_name(T)
        push!(lines, "printf(\"$name %zu\\n\", sizeof($name));")
        for field in fieldnames(T)
            push!(lines, "printf(\"$name.$field %zu\\n\", offsetof($name, $field));")
        end
    end
    append!(lines, ["printf(\"$name %lld\\n\", (long long)($name));" for name in names])
    return join([lines; "return 0; }"], "\n")
end

if isfile(HEADER) && COMPILER !== nothing
    header = read(HEADER, String)
    constants = filter(name -> startswith(string(name), "DL_"), names(Dataline; all = true))

    @testset "structs and constants have the values of C" begin
        source, program = scratch_file("layout.c"), scratch_file("layout")
        write(source, c_program(constants))
        run(`$COMPILER -std=c99 -I$(dirname(HEADER)) -o $program $source`)
        in_c = Dict(Pair(split(line)...) for line in eachline(`$program`))
        for T in STRUCTS
            @test string(sizeof(T)) == in_c[c_name(T)]
            for (k, field) in enumerate(fieldnames(T))
                @test string(fieldoffset(T, k)) == in_c["$(c_name(T)).$field"]
            end
        end
        for name in constants
            @test string(Int(getfield(Dataline, name))) == in_c[string(name)]
        end
    end

    @testset "every constant of the header is here" begin
        defined = [Symbol(found[1]) for found in eachmatch(r"^#define (DL_[A-Z0-9_]+) +\(?-?\d"m, header)]
        left_out = filter(name -> !(name in constants), defined)
        @test all(name -> startswith(string(name), "DL_VERSION_"), left_out)
    end

    @testset "every function of the header is declared, with as many arguments, or said to be left out" begin
        bare = replace(header, r"/\*.*?\*/"s => "")
        declared = Dict(string(name) => name for (name, _) in Dataline.ADDRESSES)
        left_out = ["dl_version_number", "dl_dtype_from_name", "dl_options_set_i64", # by other calls
            "dl_options_set_allocator", "dl_options_set_log", # would run Julia on other threads
            "dl_dataset_read", "dl_loader_work", # a loader does it; for frame loops
            "dl_batch_dlpack", "dl_batch_dlpack_versioned"] # no package that could take them
        for found in eachmatch(r"DL_API[^;]*?\b(dl_[a-z0-9_]+)\(([^;]*)\);", bare)
            name, arguments = found[1], replace(found[2], r"\(\*release\)\(void\* context\)" => "release")
            if haskey(declared, name)
                count = strip(arguments) == "void" ? 0 : length(split(arguments, ','))
                @test first(methods(getfield(Dataline, declared[name]))).nargs - 1 == count
            else
                @test name in left_out || name == "dl_version_number"
            end
        end
    end
else
    @info "left out: the comparison with dataline.h, for there is no header or no C compiler"
end
