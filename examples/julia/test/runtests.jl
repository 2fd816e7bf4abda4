# SPDX-License-Identifier: Apache-2.0
using Test
using TrainMnist: DIGEST_BEGIN, Mlp, correct, digest, train!

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
