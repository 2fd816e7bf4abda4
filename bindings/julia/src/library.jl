# Loads libdataline, and calls into it by addresses that are looked up once.
#
# SPDX-License-Identifier: Apache-2.0

# An object of the library.
const Handle = Ptr{Cvoid}

# name => where its address is kept; filled by @declare, read by load_library.
const ADDRESSES = Pair{Symbol,Base.RefValue{Ptr{Cvoid}}}[]

"""
    @declare name(argument::Type, ...)::Type

Creates a Julia function that calls the C function with this name. The address is loaded from a constant place at each call.
This costs about a nanosecond, and allows a library path that is known only at run time.
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

function load_library()
    found = find_library()
    found === nothing && error(
        "libdataline was not found. With an Artifacts.toml beside this package's Project.toml: import Pkg; Pkg.instantiate(). " *
        "Or set DATALINE_LIB_DIR to the folder that contains $LIBRARY_NAME, install the library, or build the " *
        "checkout: import Pkg; Pkg.build(\"Dataline\")",
    )
    handle = dlopen(found.path)
    for (name, address) in ADDRESSES
        address[] = dlsym(handle, name)
    end
    version = dl_abi_version()
    version == DL_ABI_VERSION || error("$(dlpath(handle)): expected ABI $DL_ABI_VERSION, got $version")
    return nothing
end
