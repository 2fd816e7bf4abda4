# julia --project=examples/julia examples/julia/train_mnist.jl DIR [EPOCHS]
#
# SPDX-License-Identifier: Apache-2.0
using TrainMnist

isempty(ARGS) && (println(stderr, "usage: train_mnist.jl DIR [EPOCHS]"); exit(2))
TrainMnist.train(ARGS[1], length(ARGS) > 1 ? parse(Int, ARGS[2]) : 5)
