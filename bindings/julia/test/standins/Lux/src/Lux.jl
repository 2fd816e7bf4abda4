# Stands in for Lux, which cannot be had here: its devices are those of MLDataDevices.
#
# SPDX-License-Identifier: Apache-2.0
module Lux

using MLDataDevices: cpu_device, gpu_device

export cpu_device, gpu_device

end
