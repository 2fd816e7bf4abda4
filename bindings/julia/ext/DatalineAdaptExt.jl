# Moves batches and their fields to a device's memory with Adapt, as CUDA.cu, Flux.gpu and MLDataDevices do.
#
# Without this, Adapt does not know a Batch, and copies a View on the host before it copies it to the device.
#
# SPDX-License-Identifier: Apache-2.0
module DatalineAdaptExt

using Adapt: Adapt, adapt
using Dataline: Batch, Ragged, View, Windows

# A named tuple, so that (image, label) = adapt(to, batch) still works.
Adapt.adapt_structure(to, batch::Batch) = map(field -> adapt(to, field), NamedTuple(batch))

# Directly from the batch's memory. Data that is not moved stays a View, which knows when its batch is released.
function Adapt.adapt_structure(to, view::View)
    items = parent(view)
    moved = GC.@preserve view adapt(to, items)
    return moved === items ? view : moved
end

Adapt.adapt_structure(to, windows::Windows) = adapt(to, collect(windows)) # overlap in memory
Adapt.adapt_structure(to, samples::Ragged) = [adapt(to, sample) for sample in samples]

end
