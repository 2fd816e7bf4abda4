# Loops as users of Flux and Lux write them, with stand-ins for both (test/standins).
#
# SPDX-License-Identifier: Apache-2.0
using Dataline, Adapt, MLDataDevices
import Flux, Lux

if VERSION < v"1.9" # no extensions: the README's line
    foreach(name -> include(joinpath(pkgdir(Dataline), "ext", name)), ("DatalineAdaptExt.jl", "DatalineMLDataDevicesExt.jl"))
else
    for name in (:DatalineAdaptExt, :DatalineMLDataDevicesExt)
        Base.get_extension(Dataline, name) === nothing && error("$name was not loaded")
    end
end
using MLDataDevices: GPUArray, on_host

loader() = Dataline.Loader((x = reshape(collect(Float32, 1:30), 3, 10), y = collect(1:10)); batchsize = 4)
const YS = [1:4, 5:8, 9:10]

# Flux: the loss gets the batch.
seen = []
Flux.train!((model, (x, y)) -> push!(seen, (size(x), copy(y))), nothing, loader(), nothing)
println("Flux.train!: ", seen == [((3, length(ys)), ys) for ys in YS])

# A batch by itself: from its own memory, by name and by place.
batch = first(loader())
moved = Flux.gpu(batch)
println("Flux.gpu: ", moved.x isa GPUArray{Float32,2} && moved.x.from == Matrix{Float32} && on_host(moved.y) == 1:4)
x, y = moved
println("Flux.cpu: ", Flux.cpu(moved).x == reshape(1:12, 3, 4) && Flux.cpu(batch).x isa Dataline.View)

# A loop on the device, of Flux and Lux alike: the batch before is freed, this one is there.
for package in (Flux, Lux)
    before, found = nothing, []
    for (x, y) in package.gpu_device()(loader())
        before === nothing || before.freed || error("the batch before was not freed")
        push!(found, on_host(y))
        before = x
    end
    println(nameof(package), ".gpu_device: ", found == YS)
end
println("cpu_device: ", [copy(y) for (x, y) in Lux.cpu_device()(loader())] == YS)
println("epochs and loops ahead: ", [on_host(y) for (x, y) in gpu_device()(Dataline.Epoch(loader()))] == YS &&
    [on_host(y) for (x, y) in gpu_device()(Dataline.ahead(loader()))] == YS)

# The README's loop.
readme = read(joinpath(pkgdir(Dataline), "README.md"), String)
include_string(Module(:Readme), match(r"```julia\n(using Dataline, Flux .*?)```"s, readme)[1])
println("README: ran")

# Fields without one shape.
write("tokens", UInt16.(1:41))
windows = first(Dataline.Loader("tokens:tokens?dtype=u16&length=10&views=true"; batchsize = 2)).x
println("windows: ", on_host(Adapt.adapt(gpu_device(), windows)) == windows)
texts = first(Dataline.Loader((text = ["a", "", "ccc"],); batchsize = 3))
println("ragged: ", String.(on_host.(gpu_device()(texts).text)) == ["a", "", "ccc"] && length(gpu_device()(texts.text)) == 3)
