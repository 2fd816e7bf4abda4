# Loops that move their batches with MLDataDevices, the devices of Flux and Lux: `for (x, y) in gpu_device()(loader)`.
#
# SPDX-License-Identifier: Apache-2.0
module DatalineMLDataDevicesExt

using Dataline: Ahead, Batch, Epoch, Loader, Ragged, View, Windows
using MLDataDevices: MLDataDevices, AbstractDevice, CPUDevice, DeviceIterator

# As it does for MLUtils.DataLoader.
(device::AbstractDevice)(batches::Union{Loader,Epoch,Ahead}) = DeviceIterator(device, batches)

# Adapt moves them as one object: otherwise it would search all members of an unknown struct for arrays.
MLDataDevices.isleaf(::Union{Batch,Ragged}) = true

# Called for the previous batch, which is already released. The default methods call `parent`, which then throws.
MLDataDevices.get_device(::Union{View,Windows,Ragged}) = CPUDevice()
MLDataDevices.get_device_type(::Union{View,Windows,Ragged}) = CPUDevice

end
