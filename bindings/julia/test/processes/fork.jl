# A forked child: loaders refuse, batches stay, datasets go on. Everything the child calls has been compiled before.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

dataset = Dataline.Dataset((x = collect(Int64, 0:9),))
make() = Dataline.Loader(dataset; batch_size = 2, num_workers = 0, epochs = 1)

code_of(call) = try
    call()
    nothing
catch problem
    problem isa DatalineError ? problem.code : problem
end

function checks(loader, held)
    codes = (code_of(() -> Dataline.next!(loader)), code_of(() -> first(loader)), code_of(() -> Dataline.stats(loader)))
    kept = held.x == [0, 1]
    close(held)
    close(loader)
    sum = 0
    for batch in make()
        sum += batch.x[1]
    end
    return codes, kept, sum
end

function child(loader, held)
    codes, kept, sum = checks(loader, held)
    right = codes[1] == codes[2] == Dataline.ERR_FORKED && kept && sum == 0 + 2 + 4 + 6 + 8
    return Cint(right ? 0 : 1)
end

function fork_and_check(loader, held)
    process = ccall(:fork, Cint, ())
    process == 0 && ccall(:_exit, Cvoid, (Cint,), child(loader, held))
    status = Ref{Cint}(-1)
    ccall(:waitpid, Cint, (Cint, Ref{Cint}, Cint), process, status, 0)
    return status[]
end

# Julia cannot compile in a forked child: first the same calls here, on a loader whose calls fail too.
other = make()
batch = Dataline.next!(other)
code_of(() -> Dataline.seek!(other, -1))
Dataline.cancel(other)
child(other, batch)
loader = Dataline.Loader(dataset; batch_size = 2, num_workers = 1)
held = Dataline.next!(loader)
precompile(fork_and_check, (typeof(loader), typeof(held)))
GC.enable(false)
println("child: ", fork_and_check(loader, held))
GC.enable(true)
println("parent: ", Dataline.next!(loader).x)
