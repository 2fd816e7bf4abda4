# The driver of loops.json for Julia (README.md). Its threads are tasks of `julia -t`.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline
using Dataline: Batch, Epoch, Loader, info, interrupt, next!, sample_indices

const LOADER = Ref{Loader}()
const LOOPS = Dict{String,Epoch}()
const HELD = Batch[]
const STATE = Ref("")
const TASKS = Dict{String,Task}()

# As README.md prints it.
shown(batch::Batch) = string(info(batch).epoch, ":", join(sample_indices(batch), ","))
shown(other::Symbol) = string(other)
shown(problem::DatalineError) = lowercase(replace(string(problem.code), r"^DL_(ERR_)?" => ""))

# What `call` returns, or the error that it throws.
function outcome(call)
    try
        return call()
    catch problem
        return problem isa DatalineError ? shown(problem) : rethrow()
    end
end

done(call) = outcome(() -> (call(); "ok"))

# Shows the batch and releases it.
function released(batch)
    text = shown(batch)
    batch isa Batch && close(batch)
    return text
end

function held(batch)
    batch isa Batch && push!(HELD, batch)
    return shown(batch)
end

function release_all()
    foreach(close, HELD)
    empty!(HELD)
end

function open_job(samples, options)
    isassigned(LOADER) && close(LOADER[])
    release_all()
    empty!(LOOPS)
    settings = [Symbol(name) => value for (name, value) in split.(options, "=")]
    LOADER[] = Loader((x = collect(0:parse(Int, samples)-1),); settings...)
end

function loop_statement(count)
    limit = count == "all" ? typemax(Int) : parse(Int, count)
    taken = String[]
    for batch in LOADER[]
        push!(taken, shown(batch))
        length(taken) == limit && break
    end
    return isempty(taken) ? "nothing" : join(taken, " ")
end

function share(loop, threads)
    tasks = [Threads.@spawn indices_of(loop) for _ in 1:threads]
    parts = map(fetch, tasks)
    problems = filter(part -> part isa String, parts)
    isempty(problems) || return first(problems)
    all = reduce(vcat, parts)
    return "$(length(all)) samples, $(length(Set(all))) different, $(length(parts)) ends"
end

indices_of(loop) = outcome() do
    all = Int[]
    for batch in loop
        append!(all, sample_indices(batch))
    end
    all
end

# A function that changes its argument ends in !.
function method(name)
    changing = Symbol(name, "!")
    return getfield(Dataline, isdefined(Dataline, changing) ? changing : Symbol(name))
end

function member_of(loader, name, member)
    value = getfield(method(name)(loader), Symbol(member))
    return string(value isa Bool ? Int(value) : value)
end

function run(verb, words...)
    loader = LOADER[]
    verb == "begin" && return done(() -> LOOPS[words[1]] = Epoch(loader))
    verb == "next" && return outcome(() -> released(next!(LOOPS[words[1]])))
    verb == "hold" && return outcome(() -> held(next!(LOOPS[words[1]])))
    verb == "take" && return outcome(() -> released(next!(loader)))
    verb == "release" && return done(release_all)
    verb == "for" && return outcome(() -> loop_statement(words[1]))
    verb == "seek" && return done(() -> Dataline.seek!(loader, parse.(Int, words)...))
    verb == "save" && return done(() -> STATE[] = Dataline.save_state(loader))
    verb == "load" && return done(() -> Dataline.load_state!(loader, STATE[]))
    verb == "position" && return join(position(loader), " ")
    verb == "call" && return done(() -> method(words[1])(loader, parse.(Int, words[2:end])...))
    verb == "get" && return outcome(() -> member_of(loader, split(words[1], ".")...))
    verb == "interrupt" && return done(() -> interrupt(isempty(words) ? loader : LOOPS[words[1]]))
    verb == "cancel" && return done(() -> Dataline.cancel(loader))
    verb == "spawn" && return done(() -> TASKS[words[1]] = Threads.@spawn run(words[2:end]...))
    verb == "join" && return fetch(pop!(TASKS, words[1]))
    verb == "share" && return share(LOOPS[words[1]], parse(Int, words[2]))
    verb == "drop" && return done(() -> delete!(LOOPS, words[1]))
    error("no command $verb")
end

for line in eachline()
    verb, words = Iterators.peel(split(line))
    println(verb == "open" ? done(() -> open_job(first(words), collect(Iterators.drop(words, 1)))) : run(verb, words...))
    flush(stdout)
end
