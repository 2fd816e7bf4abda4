// Plug-ins: the one in C of tests/extensions, and what is refused.
//
// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// plugin is the path of a plug-in of tests/extensions.
func plugin(t *testing.T, name string) string {
	t.Helper()
	path := built(t, "libdataline-"+name+".so")
	if path == "" {
		t.Skip("the plug-ins of tests/extensions were not built (DATALINE_LIB_DIR)")
	}
	return path
}

func TestThePluginGivesWhatTheExtensionsInGoGive(t *testing.T) {
	path, extensions := plugin(t, "samples"), noExtensions(t)
	check(t, extensions.LoadPlugin(path))
	checkCases(t, extensions)
	wants(t, extensions.LoadPlugin(path), dataline.ErrInvalidArgument) // its names are taken
}

func TestAPluginThatIsNotThereIsNamed(t *testing.T) {
	details := wants(t, noExtensions(t).LoadPlugin("surely_not_there"), dataline.ErrNotFound)
	if !strings.Contains(details.Message, "libdataline-surely_not_there.so") {
		t.Error(details)
	}
}

func TestAFileThatIsNoLibraryIsRefusedByName(t *testing.T) {
	path := file(t, "libdataline-text.so", []byte("no library"))
	if details := wants(t, noExtensions(t).LoadPlugin(path), dataline.ErrNotFound); !strings.Contains(details.Message, path) {
		t.Error(details)
	}
}

func TestALibraryThatIsNoPluginOrOfAnotherABIIsRefused(t *testing.T) {
	for name, says := range map[string]string{"no_entry": "not a plug-in", "bad_abi": "built for ABI"} {
		extensions := noExtensions(t)
		details := wants(t, extensions.LoadPlugin(plugin(t, name)), dataline.ErrUnsupported)
		if !strings.Contains(details.Message, says) {
			t.Errorf("expected %s, got %v", says, details)
		}
		formats := must[[]dataline.FormatInfo](t)(extensions.Formats())
		if own := must[[]dataline.FormatInfo](t)(dataline.Formats()); len(formats) != len(own) {
			t.Error("something was added:", formats[len(own):])
		}
	}
}
