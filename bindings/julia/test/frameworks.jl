# Flux and Lux, which cannot be had here: stand-ins with their names, numbers and functions.
#
# SPDX-License-Identifier: Apache-2.0
import Pkg

@testset "Project.toml names the extensions that there are, and what loads them" begin
    folder, parse = dirname(@__DIR__), Pkg.TOML.parsefile
    project = parse(joinpath(folder, "Project.toml"))
    files = readdir(joinpath(folder, "ext"))
    @test sort(collect(keys(project["extensions"])) .* ".jl") == sort(files)
    for (name, triggers) in project["extensions"]
        code = read(joinpath(folder, "ext", name * ".jl"), String)
        @test occursin("\nmodule $name\n", code)
        used = Set(m[1] for m in eachmatch(r"^using (\w+)"m, code))
        @test issubset(setdiff(used, ["Dataline"]), triggers isa String ? [triggers] : triggers)
    end
    for (name, number) in project["weakdeps"]
        @test project["extras"][name] == number && haskey(project["compat"], name)
        @test parse(joinpath(@__DIR__, "standins", name, "Project.toml"))["uuid"] == number
    end
end

@testset "batches and loops go to devices as in Flux and Lux" begin
    separator = Sys.iswindows() ? ";" : ":"
    path = join([Base.active_project(), joinpath(@__DIR__, "standins"), "@stdlib"], separator)
    lines = cd(() -> withenv(() -> lines_of("processes/frameworks.jl"), "JULIA_LOAD_PATH" => path), SCRATCH)
    @test lines == ["Flux.train!: true", "Flux.gpu: true", "Flux.cpu: true", "Flux.gpu_device: true", "Lux.gpu_device: true",
        "cpu_device: true", "epochs and loops ahead: true", "README: ran",
        "windows: true", "ragged: true"]
end
