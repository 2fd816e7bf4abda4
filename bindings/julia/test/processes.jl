# What needs a process of its own: a fork, Ctrl-C, several threads, leaks, the end of the program.
#
# SPDX-License-Identifier: Apache-2.0

@testset "in a forked child a loader says so, a batch and a dataset go on" begin
    @test lines_of("processes/fork.jl") == ["child: 0", "parent: [2, 3]"]
end

@testset "Ctrl-C ends a wait, and the loader goes on" begin
    for seconds in (0, 0.5) # inside the library, in the event loop
        @test lines_of("processes/interrupt.jl"; signal_at = "waiting", seconds = seconds) ==
            ["DatalineError", "waiting", "InterruptException", "next: [2]"]
    end
end

@testset "Ctrl-C after a call that timed out reaches the task that made it" begin
    @test lines_of("processes/interrupt_elsewhere.jl"; signal_at = "waiting", seconds = 0.5) ==
        ["timeout", "waiting", "InterruptException"]
end

@testset "Ctrl-C ends a loop, and no batch is lost" begin
    lines = lines_of("processes/interrupt_loop.jl"; signal_at = "looping")
    @test lines == ["looping", "InterruptException", "the rest follows"]
end

@testset "several threads take batches of one loader while the collector runs" begin
    @test lines_of("processes/threads.jl"; threads = 3) == ["20000 different samples", "leases held: 0"]
end

@testset "a program may end with loaders, batches and loans open" begin
    @test lines_of("processes/exit.jl") == ["done"]
end

@testset "batches, loaders and errors leave nothing behind" begin
    lines = lines_of("processes/leaks.jl")
    @test length(lines) == 1 && startswith(lines[1], "flat")
    startswith(lines[1], "flat") || @info "leaks" lines
end
