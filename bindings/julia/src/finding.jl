# Where libdataline is. deps/build.jl asks too, so that it builds the library only where nothing else has it.
#
# SPDX-License-Identifier: Apache-2.0

const LIBRARY_NAME = "libdataline." * dlext
const SYSTEM_NAME = "libdataline.so.$DL_ABI_VERSION" # what the system's linker knows it by
const PACKAGE = dirname(@__DIR__)

# Where a library may be, in this order, and what has it there. The first that exists is taken, so that a wrong one is an error
# and not passed over.
const PLACES = (
    "DATALINE_LIB_DIR" => () -> (told = get(ENV, "DATALINE_LIB_DIR", ""); isempty(told) ? nothing : joinpath(told, LIBRARY_NAME)),
    "the package's artifact" => () -> in_artifact(joinpath(PACKAGE, "Artifacts.toml")),
    "Pkg.build" => () -> existing(PACKAGE, "deps", "usr", "lib", LIBRARY_NAME),
    "the system" => () -> dlopen(SYSTEM_NAME; throw_error = false) === nothing ? nothing : SYSTEM_NAME,
    "the checkout's build/release" => () -> existing(PACKAGE, "..", "..", "build", "release", "lib", LIBRARY_NAME),
)

existing(parts...) = (path = normpath(joinpath(parts...)); isfile(path) ? path : nothing)

function find_library()
    for (owner, look) in PLACES
        path = look()
        path === nothing || return (owner = owner, path = path)
    end
    return nothing
end

# The artifact that a released package is bound to: Pkg installs it with the package, an Overrides.toml of a depot may name
# another folder. Nothing where the table is not there, has none for this machine, or it is not installed.
function in_artifact(table)
    isfile(table) || return nothing
    ask(name, arguments...; more...) = Base.invokelatest(getfield(artifacts(), name), arguments...; more...)
    # Not artifact_hash: Julia 1.5's does not look at what is overridden by a package's number.
    bound = ask(:artifact_meta, "dataline", table; pkg_uuid = Base.UUID("75bb0ae2-c9fd-4667-9ebc-63b8f58d6e4f"))
    bound === nothing && return nothing
    digest = Base.SHA1(bound["git-tree-sha1"])
    return ask(:artifact_exists, digest) ? joinpath(ask(:artifact_path, digest), "lib", LIBRARY_NAME) : nothing
end

# Julia's own module for artifacts. No dependency: a package of that name is there from Julia 1.6 on, and Pkg, which had it
# before, takes a while to load from 1.11 on. Both are asked only where there is a table.
function artifacts()
    VERSION >= v"1.6" && return Base.require(Base.PkgId(Base.UUID("56f22d72-fd6d-98f1-02f0-08ddc0907c33"), "Artifacts"))
    return Base.require(Base.PkgId(Base.UUID("44cfe95a-1eb2-52ea-b672-e2afdf69b78f"), "Pkg")).Artifacts
end
