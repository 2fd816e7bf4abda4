# Finds libdataline, loads it, and calls into it by addresses that are looked up once.
#
# SPDX-License-Identifier: Apache-2.0

const LIBRARY_NAME = "libdataline." * dlext

# An object of the library.
const Handle = Ptr{Cvoid}

# name => where its address is kept; filled by @declare, read by load_library.
const ADDRESSES = Pair{Symbol,Base.RefValue{Ptr{Cvoid}}}[]

"""
    @declare name(argument::Type, ...)::Type

Makes a Julia function that calls the C function of that name. The address is a constant place, loaded at each call:
about a nanosecond, and a library at a path known only at run time.
"""
macro declare(signature)
    call, result = signature.args
    name = call.args[1]
    names = [argument.args[1] for argument in call.args[2:end]]
    types = [esc(argument.args[2]) for argument in call.args[2:end]]
    address = Symbol(:ADDRESS_OF_, name)
    return quote
        const $(esc(address)) = Ref{Ptr{Cvoid}}(C_NULL)
        push!(ADDRESSES, $(QuoteNode(name)) => $(esc(address)))
        @inline function $(esc(name))($(map(esc, names)...))
            ccall($(esc(address))[], $(esc(result)), ($(types...),), $(map(esc, names)...))
        end
    end
end

# In this order; the first that exists is taken, so that a wrong one is an error and not passed over.
function library_candidates()
    told = get(ENV, "DATALINE_LIB_DIR", "")
    isempty(told) || return [joinpath(told, LIBRARY_NAME)]
    package = dirname(@__DIR__)
    built = joinpath(package, "deps", "usr", "lib", LIBRARY_NAME) # by deps/build.jl
    checkout = normpath(joinpath(package, "..", "..", "build", "release", "lib", LIBRARY_NAME))
    installed = dlopen("libdataline.so.$(DL_ABI_VERSION)"; throw_error = false) === nothing ? String[] : ["libdataline.so.1"]
    return [filter(isfile, [built]); installed; filter(isfile, [checkout])]
end

function load_library()
    candidates = library_candidates()
    isempty(candidates) && error(
        "libdataline was not found. Set DATALINE_LIB_DIR to the folder that holds $LIBRARY_NAME, install the library, " *
        "or build the checkout: import Pkg; Pkg.build(\"Dataline\")",
    )
    handle = dlopen(first(candidates))
    for (name, address) in ADDRESSES
        address[] = dlsym(handle, name)
    end
    found = dl_abi_version()
    found == DL_ABI_VERSION || error("$(dlpath(handle)) has ABI $found, this package is for $DL_ABI_VERSION")
    return nothing
end
