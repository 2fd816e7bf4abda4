# A call with a timeout has returned; then the task waits for something else, and is interrupted there.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

Base.exit_on_sigint(false)

loader = Dataline.Loader(collect(Int64, 0:99); batch_size = 1, max_leases = 2, lease_overflow = "wait", num_workers = 1)
held = [Dataline.next!(loader) for _ in 1:2]
println(Dataline.next!(loader; timeout = 0.1))
try
    println("waiting")
    flush(stdout)
    sleep(30)
    println("the interrupt was lost")
catch problem
    println(typeof(problem))
end
