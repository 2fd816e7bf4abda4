# SPDX-License-Identifier: Apache-2.0
using Test
using TrainMnist: DIGEST_BEGIN, Mlp, clock, correct, digest, drawing, scaled, train!

@testset "the digest is FNV-1a" begin
    @test string(DIGEST_BEGIN; base = 16) == "cbf29ce484222325"
    @test string(digest(Vector{UInt8}("bar"), digest(Vector{UInt8}("foo"))); base = 16) == "85944171f73967e8"
end

@testset "the network learns which of its inputs is on" begin
    model = Mlp(4, 16, 4)
    images, labels = Float32[i == j for i in 1:4, j in 1:4], [2, 0, 3, 1]
    losses = [train!(model, images, labels, 0.1f0, 0.9f0) for _ in 1:100]
    @test losses[end] < 0.1 * losses[1] && correct(model, images, labels) == 4
end

@testset "a progress line says where, how fast and how much waiting" begin
    items, head = ["00:01<00:02", "23.4 k samples/s", "waited 0.3 %", "loss=0.213"], "epoch 2/5, step 211 of 469:  44%"
    line(columns, step = 211) = drawing("epoch 2/5", step, 469, items, columns)
    @test line(120) == head * "|████████████▌               | [" * join(items, ", ") * "]"
    @test line(92) == head * " [" * join(items, ", ") * "]"
    @test line(64) == head * " [00:01<00:02, 23.4 k samples/s]"
    @test line(40) == head && line(9) == "epoch 2/5"
    @test all(length(line(columns, step)) <= columns for columns in 0:200, step in (0, 1, 468, 469, 500))
    @test scaled.([0.0, 12.34, 999.6, 23_400.0, 6.91e6]) == ["0.00", "12.3", "1.00 k", "23.4 k", "6.91 M"]
    @test clock(3725.0) == "1:02:05"
end
