# All tests: julia --project=bindings/julia -e 'import Pkg; Pkg.test()'
#
# Some of them: their names as test_args. DATALINE_BIN names the program `dataline`; without one the tests that compare
# with it are left out, and said so.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline
using Test

include("support.jl")

const FILES = ["finding", "recipe", "header",
    "views", "batches", "epochs", "waits", "openings", "sources", "loans", "closing",
    "metrics", "readers", "values", "identity", "ahead", "extensions", "observations", "frameworks", "errors", "options",
    "states", "dtypes", "devices", "dlpack", "images", "writers", "processes", "quality"]

@testset "Dataline" begin
    for file in (isempty(ARGS) ? FILES : ARGS)
        @testset "$file" begin
            include(file * ".jl")
        end
    end
end
