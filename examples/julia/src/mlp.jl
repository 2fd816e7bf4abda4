# A perceptron with one hidden layer, trained by momentum SGD; plain arrays, a sample a column.
#
# SPDX-License-Identifier: Apache-2.0
using LinearAlgebra: mul!

mutable struct Layer
    weights::Matrix{Float32} # outputs x inputs
    biases::Vector{Float32}
    velocity::Matrix{Float32}
    bias_velocity::Vector{Float32}
    gradient::Matrix{Float32}
end

struct Mlp
    first::Layer
    second::Layer
end

# SplitMix64 as numbers in -1 .. 1: the same start on every machine.
function uniform!(values, seed::UInt64)
    for k in eachindex(values)
        seed += 0x9e3779b97f4a7c15
        z = (seed ⊻ (seed >> 30)) * 0xbf58476d1ce4e5b9
        z = (z ⊻ (z >> 27)) * 0x94d049bb133111eb
        values[k] = Float32((z ⊻ (z >> 31)) >> 40) / 8388608.0f0 - 1.0f0
    end
    return values
end

function Layer(inputs::Int, outputs::Int, seed::Integer)
    weights = sqrt(6.0f0 / inputs) .* uniform!(Matrix{Float32}(undef, outputs, inputs), UInt64(seed))
    zero_biases() = zeros(Float32, outputs)
    return Layer(weights, zero_biases(), zero(weights), zero_biases(), similar(weights))
end

Mlp(inputs, hidden, outputs) = Mlp(Layer(inputs, hidden, 1), Layer(hidden, outputs, 2))

forward(layer::Layer, rows) = layer.weights * rows .+ layer.biases

function step!(layer::Layer, rows, slopes, rate, momentum)
    mul!(layer.gradient, slopes, rows')
    layer.velocity .= momentum .* layer.velocity .+ layer.gradient
    layer.weights .-= rate .* layer.velocity
    layer.bias_velocity .= momentum .* layer.bias_velocity .+ vec(sum(slopes; dims = 2))
    layer.biases .-= rate .* layer.bias_velocity
    return nothing
end

# Softmax and cross-entropy: `logits` become the gradient of the mean loss; returns the sum of the losses.
function loss!(logits, labels)
    loss = 0.0
    for (k, label) in enumerate(labels)
        column = view(logits, :, k)
        column .= exp.(column .- maximum(column))
        column ./= sum(column)
        loss -= log(max(column[label+1], 1.0f-30)) # classes count from 0
        column[label+1] -= 1
    end
    logits ./= length(labels)
    return loss
end

# One step; returns the sum of the losses.
function train!(model::Mlp, images, labels, rate, momentum)
    hidden = max.(forward(model.first, images), 0)
    logits = forward(model.second, hidden)
    loss = loss!(logits, labels)
    slopes = (model.second.weights' * logits) .* (hidden .> 0)
    step!(model.second, hidden, logits, rate, momentum)
    step!(model.first, images, slopes, rate, momentum)
    return loss
end

# How many labels are found.
function correct(model::Mlp, images, labels)
    logits = forward(model.second, max.(forward(model.first, images), 0))
    return count(k -> argmax(view(logits, :, k)) - 1 == labels[k], eachindex(labels))
end
