# The declarations are those of dataline.h: C says what it has.
#
# SPDX-License-Identifier: Apache-2.0

const HEADER = normpath(joinpath(@__DIR__, "..", "..", "..", "capi", "dataline.h"))
const COMPILER = something(Sys.which("cc"), Sys.which("gcc"), Sys.which("clang"), Some(nothing))

# CView => dl_view
c_name(T) = "dl" * replace(string(nameof(T))[2:end], r"[A-Z]" => letter -> "_" * lowercase(letter))
# `end` is a word of Julia's.
c_member(field) = rstrip(string(field), '_')
is_c_struct(name) = occursin(r"^C[A-Z][A-Za-z]+$", string(name)) && isstructtype(getfield(Dataline, name))
const STRUCTS = [getfield(Dataline, name) for name in names(Dataline; all = true)
                 if isdefined(Dataline, name) && getfield(Dataline, name) isa DataType && is_c_struct(name) &&
                    isbitstype(getfield(Dataline, name))]

function c_program(names)
    lines = ["#include <dataline.h>", "#include <stdio.h>", "int main(void) {"]
    for T in STRUCTS
        name = c_name(T)
        push!(lines, "printf(\"$name %zu\\n\", sizeof($name));")
        for field in fieldnames(T)
            push!(lines, "printf(\"$name.$field %zu\\n\", offsetof($name, $(c_member(field))));")
        end
    end
    append!(lines, ["printf(\"$name %lld\\n\", (long long)($name));" for name in names])
    return join([lines; "return 0; }"], "\n")
end

# That nothing of the header is missing here follows from how constants, structs and functions are made: from
# capi/api.json, which holds all of it.
if isfile(HEADER) && COMPILER !== nothing
    constants = filter(name -> startswith(string(name), "DL_"), names(Dataline; all = true))

    @testset "structs and constants have the values of C" begin
        @test length(STRUCTS) >= 15 && length(constants) >= 85
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
else
    @info "left out: the comparison with dataline.h, for there is no header or no C compiler"
end

@testset "every function is called, or said to be left out" begin
    folder = dirname(pathof(Dataline))
    written = filter(name -> endswith(name, ".jl") && name != "functions.jl", readdir(folder))
    code = replace(join(read(joinpath(folder, name), String) for name in written), r"#.*" => "")
    left_out = ["dl_version_number", "dl_dtype_from_name", "dl_options_set_i64", # by other calls
        "dl_dtype_bytes", # sizeof
        "dl_options_set_allocator", "dl_options_set_log", # would run Julia on other threads
        "dl_loader_begin_epoch", "dl_loader_stream", # by loops over dl_epoch; waits are tasks' own
        "dl_options_copy", # options are keyword arguments
        "dl_batch_arrow", "dl_dataset_from_arrow", "dl_dataset_from_arrow_array", # Arrow.jl has no C data interface
        "dl_extensions_set_threads"] # Julia's threads are its own
    declared = [string(name) for (name, _) in Dataline.ADDRESSES]
    @test length(declared) >= 70 && issubset(left_out, declared)
    for name in declared
        @test occursin(Regex("\\b$name\\b"), code) != (name in left_out)
    end
end
