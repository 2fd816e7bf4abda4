# Loops that move their batches by MLDataDevices, the devices of Flux and Lux: `for (x, y) in gpu_device()(loader)`.
#
# SPDX-License-Identifier: Apache-2.0
module DatalineMLDataDevicesExt

using Dataline: Ahead, Batch, Epoch, Loader, Ragged, View, Windows
using MLDataDevices: MLDataDevices, AbstractDevice, CPUDevice, DeviceIterator

# What it does for MLUtils.DataLoader.
(device::AbstractDevice)(batches::Union{Loader,Epoch,Ahead}) = DeviceIterator(device, batches)

# Moved whole, by Adapt: it would look for arrays in all members of a struct that it does not know.
MLDataDevices.isleaf(::Union{Batch,Ragged}) = true

# Asked of the batch before, which was given back: what it finds out by itself it takes from `parent`, which throws then.
MLDataDevices.get_device(::Union{View,Windows,Ragged}) = CPUDevice()
MLDataDevices.get_device_type(::Union{View,Windows,Ragged}) = CPUDevice

end
