# What encoded images say of themselves, and how values become pixels again.
#
# SPDX-License-Identifier: Apache-2.0

const IMAGE_FORMATS = Dict(DL_IMAGE_JPEG => :jpeg, DL_IMAGE_PNG => :png, DL_IMAGE_WEBP => :webp,
    DL_IMAGE_PNM => :pnm)

"""
    image_info(dataset, index; field = nothing)

What the header of sample `index`'s encoded image says (samples count from 0); nothing is decoded. `field` is a name; `nothing`
stands for `image`, or the only field with encoded bytes. A named tuple:

| name | is |
|---|---|
| `format` | `:jpeg`, `:png`, `:webp` or `:pnm` (`:unknown`: from a later library) |
| `width`, `height` | pixels, as stored: before any Exif orientation |
| `channels` | as stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK) |
| `bits` | of a channel |
| `orientation` | Exif, 1 to 8; 1 where there is none |
| `progressive` | or interlaced |
| `bytes` | encoded |

Throws with `ERR_NO_SUCH_FIELD`, `ERR_UNSUPPORTED` (no encoded bytes), `ERR_OUT_OF_RANGE`, `ERR_CORRUPT`, `ERR_TRUNCATED`, and
what reading the sample may give.
"""
function image_info(dataset::Dataset, index::Integer; field::Union{Nothing,Symbol,AbstractString} = nothing)
    name = field === nothing ? UInt8[] : Vector{UInt8}(String(field) * "\0")
    0x00 in @view(name[1:max(end - 1, 0)]) && throw(DatalineError(ERR_INVALID_ARGUMENT, "field: a NUL byte in its name"))
    memory = sized(CImageInfo)
    GC.@preserve name memory using_handle(dataset) do handle
        at = isempty(name) ? Ptr{UInt8}(C_NULL) : pointer(name)
        check(error -> dl_dataset_image_info(handle, at, Int64(index), pointer(memory), error))
    end
    info = read_struct(CImageInfo, memory)
    return (format = get(IMAGE_FORMATS, info.format, :unknown), width = Int(info.width), height = Int(info.height),
        channels = Int(info.channels), bits = Int(info.bits), orientation = Int(info.orientation),
        progressive = info.progressive != 0, bytes = Int(info.bytes))
end

"""
    pixel_scale(loader, field, channel = 0)

How the pixels of a field are seen again: `(scale, offset)` with which what is delivered in a channel (from 0) is
`pixel * scale + offset`, pixels being the stored `UInt8` or `UInt16`. Where all channels are alike any channel will do.

Throws with `ERR_NO_SUCH_FIELD`, `ERR_INVALID_ARGUMENT` (no such channel), `ERR_UNSUPPORTED` (values that are no longer those of
pixels).
"""
function pixel_scale(loader::Loader, field::Union{Symbol,AbstractString}, channel::Integer = 0)
    names = [one.name for one in fields(loader)]
    place = findfirst(==(Symbol(field)), names)
    place === nothing && no_field(field, names)
    scale, offset = Ref(0.0), Ref(0.0)
    read_scale(handle, error) = dl_loader_pixel_scale(handle, Int32(place - 1), Int64(channel), scale, offset, error)
    check_loader(read_scale, loader)
    return (scale = scale[], offset = offset[])
end
