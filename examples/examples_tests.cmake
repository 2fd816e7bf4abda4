# Each example, shortened, as a ctest test with the label `examples`.

set(expect bash "${CMAKE_CURRENT_SOURCE_DIR}/expect.sh")
set(work "${PROJECT_BINARY_DIR}/examples/work")
file(MAKE_DIRECTORY "${work}")
if(NOT DATALINE_SHARED_DATA)
  set(DATALINE_SHARED_DATA "${PROJECT_SOURCE_DIR}/../shared/data")
endif()

function(example_test name)
  add_test(NAME examples.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${work}")
  set_tests_properties(examples.${name} PROPERTIES LABELS examples TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

example_test(FirstBatchHasUnderFortyLines
  bash -c "test $(wc -l < '${CMAKE_CURRENT_SOURCE_DIR}/c/first_batch.c') -lt 40")

example_test(MakeDigitsWritesMnistFiles
  ${expect} 0 "digits: 3000 \\+ 500 images" $<TARGET_FILE:example_make_digits>
  --out "${work}/digits" --train 3000 --test 500 --sheet "${work}/digits.pgm")
set_tests_properties(examples.MakeDigitsWritesMnistFiles PROPERTIES FIXTURES_SETUP example_digits)

example_test(FirstBatchShowsFields
  ${expect} 0 "image: u8 \\[32, 28, 28\\].*label: i64 \\[32\\] [0-9] [0-9]" $<TARGET_FILE:example_first_batch>
  "mnist:${work}/digits")
example_test(FirstBatchOfNothingIsAnError
  ${expect} 1 "example_first_batch: .*nowhere" $<TARGET_FILE:example_first_batch> "mnist:${work}/nowhere")
example_test(MixDrawsInShares
  ${expect} 0 "first: 768 samples, .* asked 0.7500, got 0.7500.*second: 256 samples" $<TARGET_FILE:example_mix>
  "mnist:${work}/digits" "mnist:${work}/digits?split=test")
set_tests_properties(examples.FirstBatchShowsFields examples.MixDrawsInShares PROPERTIES FIXTURES_REQUIRED example_digits)

example_test(TrainMnistWantsData ${expect} 2 "--data DIR is needed" $<TARGET_FILE:example_train_mnist>)
example_test(TrainMnistRefusesWords
  ${expect} 2 "--epochs: expected an integer in 1 .. 10000, got \"many\"" $<TARGET_FILE:example_train_mnist>
  --data "${work}/digits" --epochs many)
example_test(TrainMnistNamesMissingFiles
  ${expect} 1 "example_train_mnist: opening the data: .*nowhere" $<TARGET_FILE:example_train_mnist>
  --data "${work}/nowhere")
example_test(TrainMnistRefusesADamagedCheckpoint
  ${expect} 1 "digits.pgm: not a checkpoint" $<TARGET_FILE:example_train_mnist>
  --data "${work}/digits" --resume "${work}/digits.pgm")
example_test(TrainMnistLearns
  ${expect} 0 "test accuracy: [89][0-9]" $<TARGET_FILE:example_train_mnist>
  --data "${work}/digits" --epochs 3)
foreach(name RefusesADamagedCheckpoint Learns)
  set_tests_properties(examples.TrainMnist${name} PROPERTIES FIXTURES_REQUIRED example_digits)
endforeach()

# The same network over dataline.hpp.
example_test(TrainMnistCppWantsData ${expect} 2 "--data DIR is needed" $<TARGET_FILE:example_train_mnist_cpp>)
example_test(TrainMnistCppNamesMissingFiles
  ${expect} 1 "example_train_mnist_cpp: .*nowhere" $<TARGET_FILE:example_train_mnist_cpp> --data "${work}/nowhere")
example_test(TrainMnistCppLearns
  ${expect} 0 "first epoch digest: [0-9a-f]+.*test accuracy: [89][0-9]" $<TARGET_FILE:example_train_mnist_cpp>
  --data "${work}/digits" --epochs 3)
set_tests_properties(examples.TrainMnistCppLearns PROPERTIES FIXTURES_REQUIRED example_digits)
find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  example_test(TrainMnistCppDigestIsThatOfCat bash -c "echo 'skipped: there is no python3'; exit 77")
elseif(TARGET dataline_cli)
  example_test(TrainMnistCppDigestIsThatOfCat
    Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/cpp/check_digest.py" $<TARGET_FILE:dataline_cli>
    $<TARGET_FILE:example_train_mnist_cpp> "${work}/digits")
  set_tests_properties(examples.TrainMnistCppDigestIsThatOfCat PROPERTIES FIXTURES_REQUIRED example_digits)
endif()
if(EXISTS "${DATALINE_SHARED_DATA}/mnist")
  example_test(TrainMnistCppReaches97OnMnist
    ${expect} 0 "test accuracy: 9[789]" $<TARGET_FILE:example_train_mnist_cpp> --data "${DATALINE_SHARED_DATA}/mnist")
else()
  example_test(TrainMnistCppReaches97OnMnist bash -c "echo 'skipped: ${DATALINE_SHARED_DATA}/mnist is absent'; exit 77")
endif()

# The progress line, on a pseudo-terminal.
function(progress_test name unit remark fixture)
  if(Python3_FOUND AND UNIX)
    example_test(${name} Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/check_progress.py" ${unit} "${remark}" ${ARGN})
  else()
    example_test(${name} bash -c "echo 'skipped: there is no python3 or no pseudo-terminal'; exit 77")
  endif()
  if(fixture)
    set_tests_properties(examples.${name} PROPERTIES FIXTURES_REQUIRED ${fixture})
  endif()
endfunction()
progress_test(TrainMnistDrawsAProgressLine samples "loss=[0-9.]+" example_digits
  $<TARGET_FILE:example_train_mnist> --data "${work}/digits" --epochs 2)
progress_test(TrainMnistCppDrawsAProgressLine samples "loss=[0-9.]+" example_digits
  $<TARGET_FILE:example_train_mnist_cpp> --data "${work}/digits" --epochs 2)
progress_test(TrainTokensDrawsAProgressLine tokens "loss=[0-9.]+" ""
  $<TARGET_FILE:example_train_tokens> --epochs 1 --out "${work}/tokens_progress")

# Pictures in class folders, written as JPEG files.
if(DATALINE_HAS_LIBJPEG)
  example_test(MakeShapesWritesClassFoldersOfJpegs
    ${expect} 0 "shapes: 600 \\+ 120 pictures of 6 classes" $<TARGET_FILE:example_make_shapes>
    --out "${work}/shapes" --train 600 --val 120)
  set_tests_properties(examples.MakeShapesWritesClassFoldersOfJpegs PROPERTIES FIXTURES_SETUP example_shapes)
  example_test(FirstBatchShowsClassFolders
    ${expect} 0 "label: i64 \\[32\\] 0 0" $<TARGET_FILE:example_first_batch> "folder:${work}/shapes/val")
  # Guessing has 17 %.
  example_test(TrainImagesLearns
    ${expect} 0 "classes: circle cross moon square star triangle.*pictures: 600.*test accuracy: [3-9][0-9]"
    $<TARGET_FILE:example_train_images> --data "${work}/shapes" --epochs 4)
  example_test(TrainImagesRefusesADamagedCheckpoint
    ${expect} 1 "not a checkpoint of this program" $<TARGET_FILE:example_train_images>
    --data "${work}/shapes" --resume "${work}/shapes/val/star/00000.jpg")
  example_test(TrainImagesNamesMissingFolders
    ${expect} 1 "example_train_images: opening the pictures: .*nowhere" $<TARGET_FILE:example_train_images>
    --data "${work}/nowhere")
  set(with_shapes FirstBatchShowsClassFolders TrainImagesLearns TrainImagesRefusesADamagedCheckpoint)
  if(TARGET example_train_images_torch)
    example_test(TrainImagesTorchLearns
      ${expect} 0 "waited for data: [0-9].*test accuracy: [3-9][0-9]" $<TARGET_FILE:example_train_images_torch>
      --data "${work}/shapes" --epochs 5)
    list(APPEND with_shapes TrainImagesTorchLearns)
    example_test(TrainImagesTorchNamesMissingFolders
      ${expect} 1 "example_train_images_torch: .*nowhere" $<TARGET_FILE:example_train_images_torch>
      --data "${work}/nowhere")
    example_test(TrainImagesTorchRefusesWords
      ${expect} 2 "usage: example_train_images_torch" $<TARGET_FILE:example_train_images_torch> --fast yes)
  else()
    example_test(TrainImagesTorchLearns bash -c "echo 'skipped: LibTorch is not installed'; exit 77")
  endif()
  foreach(name ${with_shapes})
    set_tests_properties(examples.${name} PROPERTIES FIXTURES_REQUIRED example_shapes)
  endforeach()
else()
  example_test(TrainImagesLearns bash -c "echo 'skipped: built without libjpeg'; exit 77")
endif()
example_test(TrainImagesWantsData ${expect} 2 "--data DIR is needed" $<TARGET_FILE:example_train_images>)

# LibTorch: whole epochs on MNIST take seconds, so this one is not shortened.
if(NOT TARGET example_train_cnn)
  example_test(TrainCnnReaches97OnMnist bash -c "echo 'skipped: LibTorch is not installed'; exit 77")
elseif(NOT EXISTS "${DATALINE_SHARED_DATA}/mnist")
  example_test(TrainCnnReaches97OnMnist bash -c "echo 'skipped: ${DATALINE_SHARED_DATA}/mnist is absent'; exit 77")
else()
  example_test(TrainCnnReaches97OnMnist
    ${expect} 0 "first epoch digest: 898de3d70aa1d1fb.*waited for data: [0-9].*test accuracy: 9[789]"
    $<TARGET_FILE:example_train_cnn> "${DATALINE_SHARED_DATA}/mnist")
endif()
if(TARGET example_train_cnn)
  example_test(TrainCnnLearns
    ${expect} 0 "test accuracy: [89][0-9]" $<TARGET_FILE:example_train_cnn> "${work}/digits" 6)
  set_tests_properties(examples.TrainCnnLearns PROPERTIES FIXTURES_REQUIRED example_digits)
  progress_test(TrainCnnDrawsAProgressLine samples - example_digits $<TARGET_FILE:example_train_cnn> "${work}/digits" 2)
  example_test(TrainCnnRefusesDevicesThatAreNone
    ${expect} 2 "usage: example_train_cnn .*--device" $<TARGET_FILE:example_train_cnn> --device tpu9 "${work}/digits")
  # 1 and a line where there is no GPU, the whole training where there is one.
  example_test(TrainCnnTakesADeviceOrSaysThatThereIsNone
    ${expect} "0|1" "(finds no CUDA device here|test accuracy: [89][0-9])" $<TARGET_FILE:example_train_cnn>
    --device cuda "${work}/digits" 6)
  set_tests_properties(examples.TrainCnnTakesADeviceOrSaysThatThereIsNone PROPERTIES FIXTURES_REQUIRED example_digits)
  example_test(TrainCnnNamesMissingFiles
    ${expect} 1 "example_train_cnn: .*nowhere" $<TARGET_FILE:example_train_cnn> "${work}/nowhere")
endif()

# Plain CUDA.
if(TARGET example_cuda_prefetch)
  # All bits equal where there is a GPU, 1 and a line that says what is missing where there is none.
  example_test(CudaPrefetchChecksEveryBitOrSaysThatThereIsNoDevice
    ${expect} "0|1" "(stream waited for data: .*check: all bits as on the host|example_cuda_prefetch: no CUDA device: )"
    $<TARGET_FILE:example_cuda_prefetch> --batches 20)
  example_test(CudaPrefetchRefusesWords
    ${expect} 2 "usage: example_cuda_prefetch" $<TARGET_FILE:example_cuda_prefetch> --batches none)
else()
  example_test(CudaPrefetchChecksEveryBitOrSaysThatThereIsNoDevice
    bash -c "echo 'skipped: no CUDA compiler was found (DATALINE_NVCC names one)'; exit 77")
endif()

# The generated text's unigram costs 2.86 nats.
example_test(TrainTokensBeatsUnigram
  ${expect} 0 "validation loss: 0\\.[0-9]+ nats" $<TARGET_FILE:example_train_tokens> --epochs 1 --out "${work}/tokens")
example_test(EmbedTakesBatchesWithoutWaiting
  ${expect} 0 "frames: 60 at 120 a second.*batches: [1-9].* 0 bytes left" $<TARGET_FILE:example_embed> 60 120)
example_test(EmbedRefusesWords ${expect} 2 "usage: example_embed" $<TARGET_FILE:example_embed> many)

# The main job: trains, stops in mid-epoch, resumes in a new process to the same weights.
set(run_sh bash "${CMAKE_CURRENT_SOURCE_DIR}/run.sh" --quick --bin "$<TARGET_FILE_DIR:example_train_mnist>")
example_test(RunShResumesExactly
  ${expect} 0 "test accuracy: [89][0-9].*waited for data: .*resume: weights identical" ${run_sh} --work "${work}/run")
if(EXISTS "${DATALINE_SHARED_DATA}/mnist")
  example_test(RunShTakesMnist
    ${expect} 0 "test accuracy: 9[0-9].*resume: weights identical" ${run_sh} --work "${work}/run_mnist"
    --data "${DATALINE_SHARED_DATA}/mnist")
else()
  example_test(RunShTakesMnist bash -c "echo 'skipped: ${DATALINE_SHARED_DATA}/mnist is absent'; exit 77")
endif()
if(DATALINE_HAS_LIBJPEG)
  example_test(RunShImagesResumesExactly
    ${expect} 0 "test accuracy: [2-9][0-9].*waited for data: .*resume: weights identical" ${run_sh}
    --work "${work}/run_images" --images)
else()
  example_test(RunShImagesResumesExactly bash -c "echo 'skipped: built without libjpeg'; exit 77")
endif()
example_test(RunShRefusesUnknownFlags ${expect} 2 "unknown argument" ${run_sh} --fast)
example_test(RunShNamesMissingData ${expect} 1 "nowhere" ${run_sh} --work "${work}/run_nowhere" --data "${work}/nowhere")
