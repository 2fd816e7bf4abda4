"""
Trains a small network on MNIST digits that Dataline loads.

SPDX-License-Identifier: Apache-2.0
"""
module TrainMnist

using Dataline
using LinearAlgebra: BLAS
using Printf: @printf, @sprintf

include("digest.jl")
include("mlp.jl")
include("progress.jl")

const BATCH = 128
const HIDDEN = 128

# u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
const TRANSFORM = "image: normalize(mnist), flatten"

loader(directory, split; options...) =
    Dataline.Loader("mnist:$(Dataline.escape(directory))?split=$split"; batchsize = BATCH, transform = TRANSFORM, options...)

function train_epoch!(model, train, epoch, epochs, sum)
    loss, seen, line = 0.0, 0, ProgressLine(train, "epoch $epoch/$epochs")
    remark() = @sprintf("loss=%.3f", loss / seen)
    try
        for (images, labels) in train # 784x128 Float32, 128 Int64
            if epoch == 1
                sum = digest(labels, digest(images, sum))
            end
            done = ((epoch - 1) * length(train) + line.step) / (epochs * length(train))
            loss += train!(model, images, labels, Float32(0.1 * (1 - done)), 0.9f0)
            seen += length(labels)
            update!(line, remark())
        end
    finally
        finish!(line, remark()) # also where an error ends the epoch: what follows stands on a line of its own
    end
    line.visible || @printf("epoch %d: loss %.4f\n", epoch, loss / seen)
    return seen, sum
end

"""
    train(directory, epochs)

Trains on the four MNIST files in `directory`, `.gz` or not, and prints a line an epoch, or draws it on a terminal, then accuracy, waiting and speed.
"""
function train(directory, epochs)
    BLAS.set_num_threads(1) # more of them spin while the loader's threads work
    train = loader(directory, "train"; shuffle = true, seed = 1, epochs = epochs)
    model = Mlp(784, HIDDEN, 10)
    samples, sum = 0, DIGEST_BEGIN
    seconds = @elapsed for epoch in 1:epochs
        seen, sum = train_epoch!(model, train, epoch, epochs, sum)
        samples += seen
    end
    found = count = 0
    for (images, labels) in loader(directory, "test"; epochs = 1)
        found += correct(model, images, labels)
        count += length(labels)
    end
    println("first epoch digest: ", string(sum; base = 16, pad = 16))
    @printf("test accuracy: %.2f %%\n", 100 * found / count)
    @printf("waited for data: %.1f %%\n", Dataline.stats(train).wait_ns / 1e7 / seconds)
    @printf("training speed: %.0f samples/s\n", samples / seconds)
    close(train)
    return nothing
end

end
