# Loads libdataline, and calls into it by addresses that are looked up once.
#
# SPDX-License-Identifier: Apache-2.0

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

function load_library()
    found = find_library()
    found === nothing && error(
        "libdataline was not found. With an Artifacts.toml beside this package's Project.toml: import Pkg; Pkg.instantiate(). " *
        "Else set DATALINE_LIB_DIR to the folder that holds $LIBRARY_NAME, install the library, or build that of the " *
        "checkout: import Pkg; Pkg.build(\"Dataline\")",
    )
    handle = dlopen(found.path)
    for (name, address) in ADDRESSES
        address[] = dlsym(handle, name)
    end
    version = dl_abi_version()
    version == DL_ABI_VERSION || error("$(dlpath(handle)) has ABI $version, this package is for $DL_ABI_VERSION")
    return nothing
end
