# Ends with everything open: loaders at work, batches held, arrays lent.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

loaders = [Dataline.Loader(collect(Float32, 1:10_000); batch_size = 10, shuffle = true, num_workers = 2) for _ in 1:3]
batches = [keep(first(loader)) for loader in loaders]
reader = first(Dataline.Loader(Dataline.Reader(i -> (x = i,), 4; x = Int64); num_workers = 0))
println("done")
