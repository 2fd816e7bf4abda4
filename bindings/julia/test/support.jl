# What several tests use.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline: Dataset, Loader, Status

numbers(count) = Dataset((x = collect(Int64, 0:count-1),))

# The values of an epoch, batch by batch.
epoch_of(loader) = [copy(batch.x) for batch in loader]

# What a call throws.
function thrown(call)
    try
        call()
    catch problem
        return problem
    end
    return nothing
end

code_of(call) = (problem = thrown(call); problem isa DatalineError ? problem.code : problem)

# Runs the event loop and the collector until `done()`; what must come comes, or this ends after ten seconds with a failure.
function eventually(done)
    limit = time() + 10
    while !done() && time() < limit
        GC.gc()
        yield()
        sleep(0.001)
    end
    return done()
end

# What a call returns, or the code of what it throws; a batch as its values.
function outcome(call)
    result = try
        call()
    catch problem
        return problem isa DatalineError ? problem.code : problem
    end
    return result isa Dataline.Batch ? copy(result.x) : result
end

# A task that hangs is a failure, not the end of all tests.
outcome_of(task) = eventually(() -> istaskdone(task)) ? fetch(task) : :hangs

# Of a task that was woken: long before it would look for kept batches (COLLECT_NS), and without an event of the library's.
function woken(task)
    foreach(_ -> istaskdone(task) || yield(), 1:100)
    return istaskdone(task) ? fetch(task) : :sleeps
end

const PROGRAM = let told = get(ENV, "DATALINE_BIN", something(Sys.which("dataline"), ""))
    isfile(told) ? told : nothing
end

scratch_file(name) = joinpath(SCRATCH, name)
const SCRATCH = mktempdir()

# 1000 records of 16 bytes, no two alike.
function record_file(name)
    path = scratch_file(name)
    write(path, reinterpret(UInt8, vec([UInt64(i) * factor for factor in (1, 0x9E3779B97F4A7C15), i in 0:999])))
    return "raw:$(Dataline.escape(path))?dtype=u8&shape=16"
end

# Another Julia with this package, for what must not happen to this one.
const TESTS = @__DIR__
julia_command(file, arguments...; threads = 1) =
    `$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) -t $threads $(joinpath(TESTS, file)) $arguments`

# A child's lines; a child that hangs is ended after two minutes, and the test fails by what is missing. Gets SIGINT so many
# seconds after the line `signal_at`.
function lines_of(file, arguments...; threads = 1, signal_at = nothing, seconds = 0)
    process = open(julia_command(file, arguments...; threads = threads))
    limit = Timer(_ -> kill(process, Base.SIGKILL), 120)
    lines = String[]
    for line in eachline(process)
        push!(lines, line)
        line == signal_at && (sleep(seconds); kill(process, Base.SIGINT))
    end
    success(process) || push!(lines, "ended with $(process.exitcode), signal $(process.termsignal)")
    close(limit)
    return lines
end
