# What a loader measures, and traces.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Metrics

A table that outlives its loader and then returns the final numbers. [`rows`](@ref), [`stalls`](@ref) and [`metrics_text`](@ref)
read it, in any task or thread, also while the loader is closed. In a forked child they throw `Dataline.ERR_FORKED`.
"""
mutable struct Metrics
    handle::Handle
    Metrics(handle::Handle) = finalizer(dropped -> dl_metrics_destroy(dropped.handle), new(handle)) # it never waits
end

"""
    metrics(loader)

The loader's measurements: [`Metrics`](@ref). With `stats = "full"`, or after a trace has started, also where the time goes.
"""
function metrics(loader::Loader)
    out = Ref{Handle}(C_NULL)
    check_loader((handle, error) -> dl_loader_metrics(handle, out, error), loader)
    return Metrics(out[])
end

Base.show(io::IO, metrics::Metrics) =
    GC.@preserve metrics print(io, "Dataline.Metrics of ", dl_metrics_count(metrics.handle), " rows")

using_handle(call, metrics::Metrics) = GC.@preserve metrics call(metrics.handle)

function check_metrics(call, metrics::Metrics)
    memory = error_memory()
    status = GC.@preserve metrics memory call(metrics.handle, pointer(memory))
    status == DL_OK || throw(failure(status, memory))
    return nothing
end

const METRIC_KINDS = Dict(DL_METRIC_COUNTER => :counter, DL_METRIC_GAUGE => :gauge, DL_METRIC_DURATION => :duration)

metric_thread(thread) =
    thread == DL_THREAD_ALL ? :all : thread == DL_THREAD_CONSUMER ? :consumer : Int(thread)

"""
    rows(metrics)

The current rows: named tuples `(kind, name, part, unit, doc, thread, value, count, bytes, p50_ns, p99_ns, max_ns)`. `kind` is
`:counter`, `:gauge` or `:duration` (`value` is then the sum). `thread` is a worker's number, from 0, `:all` or `:consumer`.
`part` is the stage, or why a worker waits. `dl_metric` in `dataline.h` documents the names.
"""
function rows(metrics::Metrics)
    count = GC.@preserve metrics dl_metrics_count(metrics.handle)
    return map(0:count-1) do index
        memory = sized(CMetric)
        GC.@preserve memory check_metrics(metrics) do handle, error
            dl_metrics_at(handle, index, pointer(memory), error)
        end
        row = read_struct(CMetric, memory)
        return GC.@preserve metrics (kind = get(METRIC_KINDS, row.kind, :unknown), name = text(row.name),
            part = text(row.part), unit = text(row.unit), doc = text(row.doc), thread = metric_thread(row.thread),
            value = row.value, count = row.count, bytes = row.bytes, p50_ns = row.p50_ns, p99_ns = row.p99_ns,
            max_ns = row.max_ns)
    end
end

"""
    metrics_text(metrics; labels...)

The table in Prometheus's text format 0.0.4, for an HTTP server of your own, with `labels` (`rank = 0, job = "x"`) added to each
series. A label value may be any text.
"""
function metrics_text(metrics::Metrics; labels...)
    joined = join(("$name=\"$(escaped_label(value))\"" for (name, value) in labels), ",")
    occursin("=", join(keys(labels))) && throw(ArgumentError("labels: expected names, got $(join(keys(labels), ", "))"))
    bytes = Ref{Csize_t}(0)
    GC.@preserve joined begin
        place = Base.unsafe_convert(Cstring, joined) # throws where there is a NUL inside
        write(room) = check_metrics((handle, error) -> dl_metrics_text(handle, place, room, bytes, error), metrics)
        write(Ptr{UInt8}(C_NULL))
        while true
            memory = Vector{UInt8}(undef, bytes[])
            try
                GC.@preserve memory write(pointer(memory))
            catch
                bytes[] > length(memory) || rethrow()
                continue # the numbers have grown meanwhile
            end
            return GC.@preserve memory unsafe_string(pointer(memory))
        end
    end
end

escaped_label(value) =
    foldl(replace, ("\\" => "\\\\", "\"" => "\\\"", "\n" => "\\n"); init = string(value))

"""
    trace_start(loader, path)
    trace_stop(loader)
    trace(call, loader, path)

Starts a trace: writes what each thread does, and the life of each batch. The text is JSON in Chrome's trace event format, which
Perfetto and speedscope open. `path` is a new or empty file, or an older trace, which is overwritten. At 256 MiB, or when the
disk is full, the trace ends and the job continues. `trace_stop` and `close` end it; `trace` is for `do` blocks. Throws
`Dataline.ERR_WRONG_STATE` (a trace is being written, or the file holds other data), `Dataline.ERR_NOT_FOUND`,
`Dataline.ERR_PERMISSION`, `Dataline.ERR_IO`.
"""
function trace_start(loader::Loader, path::AbstractString)
    name = String(path)
    GC.@preserve name begin
        place = Base.unsafe_convert(Cstring, name)
        check_loader((handle, error) -> dl_loader_trace_start(handle, place, Ptr{CTraceSink}(C_NULL), error), loader)
    end
    return nothing
end

@doc (@doc trace_start) trace_stop(loader::Loader) = check_loader(dl_loader_trace_stop, loader)

@doc (@doc trace_start) function trace(call, loader::Loader, path::AbstractString)
    trace_start(loader, path)
    try
        return call()
    finally
        trace_stop(loader)
    end
end
