# Waits until it is interrupted; then the loader goes on.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

Base.exit_on_sigint(false)

loader = Dataline.Loader(collect(Int64, 0:99); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
held = [Dataline.next!(loader) for _ in 1:2]
# Compiles all of the wait: Julia drops an InterruptException that reaches its compiler.
Dataline.next!(loader; timeout = 0.1)
Dataline.interrupt(loader)
try
    Dataline.next!(loader)
catch problem
    println(typeof(problem))
end
try
    println("waiting")
    flush(stdout)
    Dataline.next!(loader) # for ever
catch problem
    println(typeof(problem))
end
close(held[1])
println("next: ", Dataline.next!(loader).data)
