package image

import (
	"net/http"
	"strings"
	"testing"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestInspectISO: what UEFI firmware of the server does not boot from a CD drive is
// refused when the image is inspected, before anything is made for it.
func TestInspectISO(t *testing.T) {
	amd := isotest.New("BOOTX64.EFI")
	bios := amd
	bios.Catalogue = append([]byte(nil), amd.Catalogue...)
	bios.Catalogue[2*32+1] = 0
	for _, row := range []struct {
		name, arch, iso, err string
	}{
		{"amd64", "amd64", string(amd.Bytes()), ""},
		{"another architecture", "arm64", string(amd.Bytes()), `\EFI\BOOT\BOOTAA64.EFI`},
		{"BIOS only", "amd64", string(bios.Bytes()), "no EFI entry"},
		{"a UKI by mistake", "amd64", "MZ" + strings.Repeat("x", 100<<10), "no volume descriptor"},
		{"too short for anything", "amd64", "MZ", "it ends before"},
		{"far behind", "amd64", behind(amd), ""},
		{"far behind, of another architecture", "arm64", behind(amd), `\EFI\BOOT\BOOTAA64.EFI`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t)
			r.image("x", r.blob(typeISO, row.iso))
			img, err := Resolve(t.Context(), r.ref("x"), row.arch, Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = Inspect(t.Context(), img, Options{})
			if row.err == "" {
				if a, ok := img.Artefact(resource.ArtefactISO); err != nil || !ok || a.Size != int64(len(row.iso)) {
					t.Errorf("%+v, %v", img, err)
				}
				return
			}
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.err) || protocol.HintOf(err) == "" {
				t.Errorf("%v, want %q", err, row.err)
			}
		})
	}
}

// behind is an image with its EFI system partition behind everything else, as Ubuntu's.
func behind(i isotest.Image) string {
	const at = 20 << 20
	i.Catalogue = append([]byte(nil), i.Catalogue...)
	i.Entry(3, isotest.Bootable, at/isotest.Sector)
	out := i.Bytes()
	return string(append(append(out, make([]byte, at-len(out))...), i.FAT...))
}

// What the registry does is told apart from what is wrong with the image; one that knows
// no ranges is asked no further than for the beginning.
func TestInspectISOUnavailable(t *testing.T) {
	r := newRegistry(t)
	r.image("x", r.blob(typeISO, behind(isotest.New("BOOTX64.EFI"))))
	img, err := Resolve(t.Context(), r.ref("x"), "arm64", Options{})
	if err != nil {
		t.Fatal(err)
	}
	blobs := func(do func(http.ResponseWriter, *http.Request) bool) {
		r.misbehave(func(w http.ResponseWriter, req *http.Request) bool {
			return req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") && do(w, req)
		})
	}
	blobs(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	if err := Inspect(t.Context(), img, Options{}); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("%v", err)
	}
	blobs(func(_ http.ResponseWriter, req *http.Request) bool {
		req.Header.Del("Range")
		return false
	})
	if err := Inspect(t.Context(), img, Options{}); err != nil {
		t.Errorf("without ranges: %v", err)
	}
}
