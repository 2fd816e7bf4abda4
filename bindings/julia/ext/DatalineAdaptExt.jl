# Batches and their fields in a device's memory by Adapt: what CUDA.cu, Flux.gpu and MLDataDevices do with data.
#
# Without this Adapt knows nothing of a Batch, and a View is copied on the host before it is copied to the device.
#
# SPDX-License-Identifier: Apache-2.0
module DatalineAdaptExt

using Adapt: Adapt, adapt
using Dataline: Batch, Ragged, View, Windows

# A named tuple, so that (image, label) = adapt(to, batch) goes on working.
Adapt.adapt_structure(to, batch::Batch) = map(field -> adapt(to, field), NamedTuple(batch))

# Straight from the batch's memory. What is left where it is stays a View, which knows when its batch is gone.
function Adapt.adapt_structure(to, view::View)
    items = parent(view)
    moved = GC.@preserve view adapt(to, items)
    return moved === items ? view : moved
end

Adapt.adapt_structure(to, windows::Windows) = adapt(to, collect(windows)) # overlap in memory
Adapt.adapt_structure(to, samples::Ragged) = [adapt(to, sample) for sample in samples]

end
