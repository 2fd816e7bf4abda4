# Batches in a device's memory, on the fake CUDA driver: what is refused, what a stream reads, what crosses the bus.
#
# SPDX-License-Identifier: Apache-2.0
using Libdl: dlopen, dlsym

# DATALINE_FAKE_CUDA, or the file beside the library that is in use, or that of the checkout's release build.
const FAKE_CUDA = let beside = joinpath(dirname(Dataline.find_library().path), "libfake_cuda.so"),
    built = normpath(joinpath(@__DIR__, "..", "..", "..", "build", "release", "lib", "libfake_cuda.so")),
    told = get(ENV, "DATALINE_FAKE_CUDA", isfile(beside) ? beside : built)

    isfile(told) ? told : nothing
end

const PIXELS = reshape(UInt8[mod(i, 251) for i in 0:100*18-1], 3, 3, 2, 100) # C-order HWC
device_job(; options...) = Loader((image = PIXELS, label = collect(0:99)); axes = (image = "CWH",), batch_size = 16, seed = 1,
    shuffle = true, epochs = 1, transform = "image: normalize(mean=0.5, std=0.25), chw", options...)

if FAKE_CUDA === nothing
    @info "left out: the tests on the fake driver, for there is no libfake_cuda.so (DATALINE_FAKE_CUDA)"
else
    fake = dlopen(FAKE_CUDA)
    done(code) = @test code == 0
    # A driver as new, and a stream of its device 0.
    function fake_stream()
        ccall(dlsym(fake, :fake_cuda_reset), Cvoid, ())
        ccall(dlsym(fake, :fake_cuda_seed), Cvoid, (UInt64,), 1)
        context, stream, popped = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
        done(ccall(dlsym(fake, :cuInit), Cint, (Cuint,), 0))
        done(ccall(dlsym(fake, :cuDevicePrimaryCtxRetain), Cint, (Ptr{Ptr{Cvoid}}, Cint), context, 0))
        done(ccall(dlsym(fake, :cuCtxPushCurrent_v2), Cint, (Ptr{Cvoid},), context[]))
        done(ccall(dlsym(fake, :cuStreamCreate), Cint, (Ptr{Ptr{Cvoid}}, Cuint), stream, 1))
        done(ccall(dlsym(fake, :cuCtxPopCurrent_v2), Cint, (Ptr{Ptr{Cvoid}},), popped))
        return context[], stream[]
    end
    # The items of a field, read in a stream and waited for.
    function read_in(context, stream, field)
        items, popped = Array{eltype(field)}(undef, size(field)), Ref{Ptr{Cvoid}}(C_NULL)
        done(ccall(dlsym(fake, :cuCtxPushCurrent_v2), Cint, (Ptr{Cvoid},), context))
        GC.@preserve items begin
            done(ccall(dlsym(fake, :cuMemcpyDtoHAsync_v2), Cint, (Ptr{Cvoid}, UInt64, Csize_t, Ptr{Cvoid}), items,
                UInt(pointer(field)), sizeof(items), stream))
            done(ccall(dlsym(fake, :cuStreamSynchronize), Cint, (Ptr{Cvoid},), stream))
        end
        done(ccall(dlsym(fake, :cuCtxPopCurrent_v2), Cint, (Ptr{Ptr{Cvoid}},), popped))
        return items
    end
    not_misused() = @test ccall(dlsym(fake, :fake_cuda_misuses), Int64, ()) == 0
    there = (device = "cuda:0", cuda_library = FAKE_CUDA)

    @testset "a field names its device and refuses the host" begin
        fake_stream()
        loader = device_job(; there...)
        @test map(Dataline.device, Dataline.fields(loader)) == ["cuda:0", "cuda:0"]
        batch = Dataline.next!(loader)
        image = batch.image
        @test image isa Dataline.DeviceArray{Float32,4} && Dataline.device(image) == "cuda:0"
        @test (size(image), strides(image), length(image)) == ((3, 2, 3, 16), (1, 3, 6, 18), 288)
        for use in (x -> x[1], x -> (x[1] = 0), copy, collect, parent, Array, sum, x -> x .+ 1, x -> view(x, 1), x -> vec(x),
            x -> reshape(x, :), x -> copyto!(zeros(Float32, 288), x), x -> convert(Array, x), x -> [y for y in x])
            problem = thrown(() -> use(image))
            @test problem isa DatalineError && problem.code == Dataline.ERR_UNSUPPORTED
            @test all(part -> occursin(part, problem.message), ("'image'", "cuda:0", "wait(batch, stream)", "device=cpu"))
        end
        @test length(Dataline.sample_indices(batch)) == 16 # they stay on the host
        @test string(image) == "3x2x3x16 Float32 on cuda:0"
        kept = keep(image)
        close(batch)
        @test code_of(() -> pointer(image)) == Dataline.ERR_WRONG_STATE && pointer(kept) != C_NULL
        close(kept)
        @test Dataline.stats(loader).leases_held == 0
        close(loader)
        not_misused()
    end

    @testset "a stream that waited reads what the cpu delivers" begin
        context, stream = fake_stream()
        device, host = device_job(; there...), device_job()
        for batch in device
            same = Dataline.next!(host)
            wait(batch, stream)
            for name in keys(batch)
                @test read_in(context, stream, batch[name]) == same[name]
            end
            Dataline.release_on(batch, stream)
            @test !isopen(batch)
            close(same)
        end
        stats = Dataline.stats(device)
        @test (stats.batches, stats.leases_held) == (7, 0)
        @test stats.device_bytes > 0 && stats.copied_bytes >= 100 * (18 + 8)
        close(device)
        not_misused()
    end

    @testset "the plan says where each part runs" begin
        fake_stream()
        loader = device_job(; there...)
        stages = Dataline.plan(loader)
        kernels = occursin("cuda-kernels", Dataline.build_info()) # without them all is computed before the bus
        @test sum(stage.bytes_in for stage in stages if stage.text == "copy" && stage.runs_on != "cpu") ==
              (kernels ? 18 : 72) + 8
        @test (field = :image, runs_on = kernels ? "cuda:0" : "cpu", text = "normalize(mean=0.5, std=0.25), chw",
            bytes_in = 18, bytes_out = 72) in stages
        close(loader)
        not_misused()
    end
end

@testset "on the cpu everything runs there" begin
    loader = device_job()
    @test all(stage -> stage.runs_on == "cpu", Dataline.plan(loader)) && !isempty(Dataline.plan(loader))
    batch = Dataline.next!(loader)
    @test Dataline.device(batch.image) == "cpu" && wait(batch, C_NULL) === nothing
    Dataline.release_on(batch, C_NULL)
    @test !isopen(batch) && Dataline.stats(loader).leases_held == 0
end

@testset "a driver that is not there is named" begin
    problem = thrown(() -> device_job(; device = "cuda:0", cuda_library = "/nowhere/libcuda.so.1"))
    @test problem.code == Dataline.ERR_NO_DEVICE && occursin("/nowhere/libcuda.so.1", problem.message)
end
