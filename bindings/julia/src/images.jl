# What encoded images say of themselves, and how values become pixels again.
#
# SPDX-License-Identifier: Apache-2.0

const IMAGE_FORMATS = Dict(DL_IMAGE_JPEG => :jpeg, DL_IMAGE_PNG => :png, DL_IMAGE_WEBP => :webp,
    DL_IMAGE_PNM => :pnm)

"""
    image_info(dataset, index; field = nothing)

The header of a sample's encoded image; does not decode it. `index` counts from 0. `field` is a name; `nothing` is `image`, or
the only field with encoded bytes. A named tuple:

| name | is |
|---|---|
| `format` | `:jpeg`, `:png`, `:webp` or `:pnm` (`:unknown`: from a later library) |
| `width`, `height` | pixels, as stored: before any Exif orientation |
| `channels` | as stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK) |
| `bits` | per channel |
| `orientation` | Exif, 1 to 8; 1 if absent |
| `progressive` | or interlaced |
| `bytes` | encoded |

Throws `ERR_NO_SUCH_FIELD`, `ERR_UNSUPPORTED` (no encoded bytes), `ERR_OUT_OF_RANGE`, `ERR_CORRUPT`, `ERR_TRUNCATED`, and the
errors of reading the sample.
"""
function image_info(dataset::Dataset, index::Integer; field::Union{Nothing,Symbol,AbstractString} = nothing)
    name = field === nothing ? UInt8[] : Vector{UInt8}(String(field) * "\0")
    0x00 in @view(name[1:max(end - 1, 0)]) &&
        throw(DatalineError(ERR_INVALID_ARGUMENT, "field: expected a name without a NUL byte"))
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

How to recover the pixels of a field: `(scale, offset)`. The value delivered in a channel (from 0) is `pixel * scale + offset`,
where `pixel` is the stored `UInt8` or `UInt16`. If all channels have the same scale, any channel works.

Throws `ERR_NO_SUCH_FIELD`, `ERR_INVALID_ARGUMENT` (no such channel), `ERR_UNSUPPORTED` (the values do not map back to pixels).
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
