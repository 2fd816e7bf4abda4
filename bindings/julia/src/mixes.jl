# Mixes of datasets, and their parts.
#
# SPDX-License-Identifier: Apache-2.0

# One a part: by their places, or by name.
function shares_of(datasets, given)
    if given isa NamedTuple
        issetequal(keys(given), keys(datasets)) ||
            throw(ArgumentError("expected one value for each of $(keys(datasets)), got $(keys(given))"))
        given = [given[name] for name in keys(datasets)]
    end
    return row_of(Float64, collect(Any, given), "weights")
end

"""
    mix((web = dataset1, code = dataset2); weights = (0.7, 0.3), schedule = [10_000 => (0.5, 0.5)], samples_per_epoch = nothing)
    mix((web = dataset1, code = dataset2); repeats = (1, 2.5), pack_length = 2048)
    mix((web = dataset1, code = dataset2); weights = (0.7, 0.3), transforms = (code = "resize(32)",))

Draws from all parts by weight, or repeats each sample. Weights, in the order of the parts or by name, are relative to each
other; each part has its own epochs. `schedule` sets the weights that apply from a step of the job. `repeats` is how often
an epoch repeats each sample of a part. For a fraction, each epoch draws again which samples are repeated once more. The parts
have the same fields. A part's own transform, which runs before the loader's transform, makes differently stored parts
match. `sample_sources(batch)` is the part of each row, from 0, and `sample_indices(batch)` its sample. Other settings are
those of a [`Dataset`](@ref); `pack_length` packs the documents that are drawn.
"""
function mix(datasets::NamedTuple{<:Any,<:Tuple{Vararg{Dataset}}}; weights = nothing, repeats = nothing, schedule = (),
    samples_per_epoch = nothing, transforms = NamedTuple(), settings...)
    (weights === nothing) == (repeats === nothing) && throw(ArgumentError("expected weights or repeats, one per part"))
    count = length(datasets)
    asked = shares_of(datasets, weights === nothing ? repeats : weights)
    length(asked) == count || throw(ArgumentError("expected $count weights or repeats, one per part, got $(length(asked))"))
    stages = [(step = Int64(step), weights = shares_of(datasets, shares)) for (step, shares) in schedule]
    all(stage -> length(stage.weights) == count, stages) || throw(ArgumentError("a stage needs one weight per part"))
    for name in keys(transforms)
        haskey(datasets, name) ||
            throw(ArgumentError("transforms: no part $name; the parts are $(join(keys(datasets), ", "))"))
    end
    names = map(string, keys(datasets))
    own = map(name -> String(get(transforms, name, "")), keys(datasets))
    any(own_text -> '\0' in own_text, own) && throw(ArgumentError("transforms: expected texts without a NUL byte"))
    c_stages = [CMixStage(sizeof(CMixStage), 0, stage.step, pointer(stage.weights)) for stage in stages]
    samples = Int64(samples_per_epoch === nothing ? -1 : samples_per_epoch)
    return with_options(settings) do options
        GC.@preserve names own stages c_stages composed(values(datasets)) do handles, out, error
            parts = [CMixPart(sizeof(CMixPart), 0, pointer(names[k]), handles[k], weights === nothing ? 0.0 : asked[k],
                         repeats === nothing ? 0.0 : asked[k], pointer(own[k])) for k in 1:count]
            GC.@preserve parts dl_dataset_mix(pointer(parts), Int32(count), pointer(c_stages), Int32(length(c_stages)),
                samples, options, out, error)
        end
    end
end
