// Batches in device memory, on the fake driver: what is refused, what a stream reads, what crosses the bus.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dataline/dataline/bindings/go"
	"github.com/ebitengine/purego"
)

// fakeCUDA is the fake CUDA driver, as a consumer in the same process sees it.
type fakeCUDA struct {
	t       *testing.T
	path    string
	library uintptr
	context uintptr
}

// newFakeCUDA is a driver as new; the test ends with a look at what it found wrong with its callers.
func newFakeCUDA(t *testing.T) *fakeCUDA {
	t.Helper()
	path := os.Getenv("DATALINE_FAKE_CUDA")
	if path == "" {
		path = built(t, "libfake_cuda.so")
	}
	if path == "" {
		t.Skip("there is no libfake_cuda.so (DATALINE_FAKE_CUDA)")
	}
	fake := &fakeCUDA{t: t, path: path, library: must[uintptr](t)(purego.Dlopen(path, purego.RTLD_NOW))}
	fake.call("fake_cuda_reset")
	fake.call("fake_cuda_seed", 1)
	context := new(uintptr)
	fake.done("cuInit", 0)
	fake.done("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(context)), 0)
	fake.context = *context
	t.Cleanup(func() {
		var text func(index int64) string
		purego.RegisterLibFunc(&text, fake.library, "fake_cuda_misuse")
		for at := range int64(fake.call("fake_cuda_misuses")) {
			t.Error(text(at))
		}
	})
	return fake
}

func (f *fakeCUDA) call(name string, arguments ...uintptr) uintptr {
	f.t.Helper()
	result, _, _ := purego.SyscallN(must[uintptr](f.t)(purego.Dlsym(f.library, name)), arguments...)
	return result
}

// done makes a call of the driver that must succeed.
func (f *fakeCUDA) done(name string, arguments ...uintptr) {
	f.t.Helper()
	if code := int32(f.call(name, arguments...)); code != 0 {
		f.t.Fatal(name, code)
	}
}

func (f *fakeCUDA) options() dataline.With {
	return dataline.With{"device": "cuda:0", "cuda_library": f.path}
}

// current does work while the device's context is that of the thread.
func (f *fakeCUDA) current(work func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	popped := new(uintptr)
	f.done("cuCtxPushCurrent_v2", f.context)
	work()
	f.done("cuCtxPopCurrent_v2", uintptr(unsafe.Pointer(popped)))
}

func (f *fakeCUDA) stream() uintptr {
	stream := new(uintptr)
	f.current(func() { f.done("cuStreamCreate", uintptr(unsafe.Pointer(stream)), 1) })
	return *stream
}

// read is the first bytes of a field, read in a stream and waited for.
func (f *fakeCUDA) read(of dataline.Tensor, bytes int, stream uintptr) []byte {
	to := make([]byte, bytes)
	f.current(func() {
		f.done("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&to[0])), uintptr(of.Pointer()), uintptr(bytes), stream)
		f.done("cuStreamSynchronize", stream)
	})
	return to
}

func deviceJob(t *testing.T, more dataline.With) *dataline.Loader {
	t.Helper()
	pixels := make([]uint8, 100*18)
	for at := range pixels {
		pixels[at] = uint8(at % 251)
	}
	set := arrays(t, dataline.NewArray("image", pixels, 100, 2, 3, 3).Axes("HWC"), dataline.NewArray("label", count(100)))
	return loaderOf(t, set, dataline.With{"batch_size": 16, "shuffle": "full", "epochs": 1,
		"transform": "image: normalize(mean=0.5, std=0.25), chw"}, more)
}

func TestATensorNamesItsDeviceAndRefusesTheHost(t *testing.T) {
	fake := newFakeCUDA(t)
	batch := must[*dataline.Batch](t)(deviceJob(t, fake.options()).Next(background))
	defer batch.Release()
	image := must[dataline.Tensor](t)(batch.Tensor("image"))
	if kind, index := image.Device(); kind != 2 || index != 0 || image.DeviceName() != "cuda:0" {
		t.Error(kind, index, image.DeviceName())
	}
	_, view := dataline.View[float32](batch, "image")
	_, rows := dataline.Rows[float32](batch, "image")
	_, bytes := image.Bytes()
	for _, err := range []error{view, rows, bytes} {
		message := wants(t, err, dataline.ErrUnsupported).Error()
		for _, part := range []string{"field 'image'", "cuda:0", "Batch.Wait", "device=cpu"} {
			if !strings.Contains(message, part) {
				t.Errorf("no %q in %s", part, message)
			}
		}
	}
	if len(batch.SampleIndices()) != 16 {
		t.Error("the indices stay on the host")
	}
}

func TestAStreamThatWaitedReadsWhatTheCPUDelivers(t *testing.T) {
	fake := newFakeCUDA(t)
	device, host := deviceJob(t, fake.options()), deviceJob(t, nil)
	stream := fake.stream()
	for batch, err := range device.Epoch(background) {
		check(t, err)
		same := must[*dataline.Batch](t)(host.Next(background))
		check(t, batch.Wait(stream))
		for _, field := range []string{"image", "label"} {
			wanted := must[[]byte](t)(must[dataline.Tensor](t)(same.Tensor(field)).Bytes())
			got := fake.read(must[dataline.Tensor](t)(batch.Tensor(field)), len(wanted), stream)
			if !slices.Equal(got, wanted) {
				t.Errorf("%s of step %d", field, batch.Info().Step)
			}
		}
		same.Release()
		check(t, batch.ReleaseOn(stream))
	}
	stats := must[dataline.Stats](t)(device.Stats())
	if stats.Batches != 7 || stats.LeasesHeld != 0 || stats.DeviceBytes <= 0 || stats.CopiedBytes < 100*(18+8) {
		t.Errorf("%+v", stats)
	}
}

func TestThePlanSaysWhereEachPartRuns(t *testing.T) {
	fake := newFakeCUDA(t)
	crossing, work := int64(0), dataline.PlanStage{}
	for _, stage := range must[[]dataline.PlanStage](t)(deviceJob(t, fake.options()).Plan()) {
		if stage.CrossesBus() {
			crossing += stage.BytesIn
		}
		if strings.HasPrefix(stage.Text, "normalize") {
			work = stage
		}
	}
	wanted := dataline.PlanStage{Field: "image", RunsOn: "cuda:0", Text: "normalize(mean=0.5, std=0.25), chw", BytesIn: 18,
		BytesOut: 72}
	wantedCrossing := int64(18 + 8)
	if !strings.Contains(must[string](t)(dataline.BuildInfo()), "cuda-kernels") {
		wantedCrossing, wanted.RunsOn = 72+8, "cpu" // what has to be computed is computed before the bus
	}
	if crossing != wantedCrossing || work != wanted {
		t.Error(crossing, work)
	}
	for _, stage := range must[[]dataline.PlanStage](t)(deviceJob(t, nil).Plan()) {
		if stage.RunsOn != "cpu" {
			t.Error(stage)
		}
	}
}

func TestADriverThatIsNotThereIsNamed(t *testing.T) {
	_, err := dataline.NewLoader(numbers(t, 3), dataline.With{"device": "cuda:0", "cuda_library": "/nowhere/libcuda.so.1"})
	if details := wants(t, err, dataline.ErrNoDevice); !strings.Contains(details.Error(), "/nowhere/libcuda.so.1") {
		t.Error(details)
	}
}
