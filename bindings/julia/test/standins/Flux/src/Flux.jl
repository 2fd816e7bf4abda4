# Stands in for Flux, which cannot be had here: what it does with data. `train!` gives a tuple's parts to the loss one by one, and
# everything else as it is.
#
# SPDX-License-Identifier: Apache-2.0
module Flux

using MLDataDevices: cpu_device, gpu_device

export cpu, gpu, cpu_device, gpu_device

gpu(x) = gpu_device()(x)
cpu(x) = cpu_device()(x)
train!(loss, model, data, optimiser) = foreach(d -> loss(model, (d isa Tuple ? d : (d,))...), data)

end
