package image

import (
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
)

// Where nobody knows the server's architecture, an image that is for one is taken with that one,
// and of one for several somebody must say which.
func TestArchitectureNotKnown(t *testing.T) {
	for _, row := range []struct {
		name string
		push func(r *testRegistry, amd, arm v1.Descriptor) // pushes "x"
		want string
		code protocol.Code
	}{
		{"an index for one", func(r *testRegistry, _, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "linux", "arm64")), types.OCIImageIndex)
		}, "arm64", ""},
		{"an index for one, and what nothing boots", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(amd, "unknown", "unknown"), on(amd, "windows", "amd64"), on(arm, "linux", "arm64")), types.OCIImageIndex)
		}, "arm64", ""},
		{"an index for both", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "linux", "arm64"), on(amd, "linux", "amd64")), types.OCIImageIndex)
		}, "", protocol.CodeConflict},
		{"a nested index for one", func(r *testRegistry, _, arm v1.Descriptor) {
			inner := r.push("", index(types.OCIImageIndex, on(arm, "linux", "arm64")), types.OCIImageIndex)
			r.push("x", index(types.OCIImageIndex, inner), types.OCIImageIndex)
		}, "arm64", ""},
		{"a nested index for both", func(r *testRegistry, amd, arm v1.Descriptor) {
			inner := r.push("", index(types.OCIImageIndex, on(arm, "linux", "arm64"), on(amd, "linux", "amd64")), types.OCIImageIndex)
			r.push("x", index(types.OCIImageIndex, inner), types.OCIImageIndex)
		}, "", protocol.CodeConflict},
		{"nested indexes, one for each", func(r *testRegistry, amd, arm v1.Descriptor) {
			one := r.push("", index(types.OCIImageIndex, on(arm, "linux", "arm64")), types.OCIImageIndex)
			two := r.push("", index(types.OCIImageIndex, on(amd, "linux", "amd64")), types.OCIImageIndex)
			r.push("x", index(types.OCIImageIndex, one, two), types.OCIImageIndex)
		}, "", protocol.CodeConflict},
		{"an empty index", func(r *testRegistry, _, _ v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex), types.OCIImageIndex)
		}, "", protocol.CodeNotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t)
			row.push(r, r.image("amd", r.blob(typeUKI, "amd64 uki")), r.image("arm", r.blob(typeUKI, "arm64 uki")))
			img, err := Resolve(t.Context(), r.ref("x"), "", Options{})
			if protocol.CodeOf(err) != row.code || img.Architecture != row.want {
				t.Fatalf("%q, %v; want %q, %q", img.Architecture, err, row.want, row.code)
			}
			if row.code == protocol.CodeConflict && !strings.Contains(protocol.HintOf(err), "spec.architecture") {
				t.Errorf("hint %q", protocol.HintOf(err))
			}
		})
	}
}

// A single manifest says no architecture: its program does.
func TestOnly(t *testing.T) {
	for machine, want := range map[uint16]string{machineAMD64: "amd64", machineARM64: "arm64", machineRISCV: ""} {
		r := newRegistry(t)
		r.image("x", r.blob(typeUKI, string(unified(machine))))
		img, err := Resolve(t.Context(), r.ref("x"), "", patient())
		if err != nil || img.Architecture != "" {
			t.Fatalf("%+v, %v", img, err)
		}
		img, err = Only(t.Context(), img, patient())
		if img.Architecture != want || (err == nil) != (want != "") {
			t.Errorf("machine %#x: %q, %v", machine, img.Architecture, err)
		}
	}
}
