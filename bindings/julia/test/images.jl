# What encoded images say of themselves, and how values become pixels again.
#
# SPDX-License-Identifier: Apache-2.0

# A PNG of 2x1 grey pixels, 10 and 200.
const PNG = hex2bytes("89504e470d0a1a0a0000000d4948445200000002000000010800000000d1492056" *
                      "0000000b4944415478da63e03a010000df00d3d885d2ae0000000049454e44ae426082")

function pictures()
    folder = scratch_file("pictures")
    write(joinpath(mkpath(joinpath(folder, "grey")), "1.png"), PNG)
    return Dataset("folder:" * Dataline.escape(folder))
end

@testset "headers of images are read without decoding" begin
    dataset = pictures()
    info = (format = :png, width = 2, height = 1, channels = 1, bits = 8, orientation = 1, progressive = false,
        bytes = length(PNG))
    @test Dataline.image_info(dataset, 0) === info
    @test Dataline.image_info(dataset, 0; field = :image) === Dataline.image_info(dataset, 0; field = "image") === info
    @test code_of(() -> Dataline.image_info(dataset, 1)) == Dataline.ERR_OUT_OF_RANGE
    @test code_of(() -> Dataline.image_info(dataset, 0; field = :label)) == Dataline.ERR_UNSUPPORTED
    @test code_of(() -> Dataline.image_info(dataset, 0; field = "")) == Dataline.ERR_NO_SUCH_FIELD
    @test code_of(() -> Dataline.image_info(dataset, 0; field = "im\0age")) == Dataline.ERR_INVALID_ARGUMENT
    close(dataset)
    @test code_of(() -> Dataline.image_info(dataset, 0)) == Dataline.ERR_WRONG_STATE
end

@testset "delivered values are pixels again" begin
    loader = Loader(pictures(); transform = "image: decode, normalize(imagenet)")
    values = Array(first(loader).image)
    for channel in 0:2
        (scale, offset) = Dataline.pixel_scale(loader, :image, channel)
        @test round.((vec(values[channel+1, :, :, :]) .- offset) ./ scale) == [10, 200]
    end
    @test code_of(() -> Dataline.pixel_scale(loader, :image, 3)) == Dataline.ERR_INVALID_ARGUMENT
    @test code_of(() -> Dataline.pixel_scale(loader, :imag)) == Dataline.ERR_NO_SUCH_FIELD
    @test code_of(() -> Dataline.pixel_scale(Loader(numbers(3)), "x")) == Dataline.ERR_UNSUPPORTED
end
