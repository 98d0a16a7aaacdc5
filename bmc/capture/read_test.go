package capture_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"testing"

	"rackboot/bmc/capture"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// packed is an archive of files.
func packed(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What was written is read again, answer by answer.
func TestRead(t *testing.T) {
	r := capture.New()
	r.See("/redfish/v1", []byte(`{"RedfishVersion":"1.9.0"}`))
	r.See("/redfish/v1/Systems/1", []byte(`{"PowerState":"Off"}`))
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		t.Fatal(err)
	}
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	delete(files, "capture.json")
	got, err := capture.Read(&raw)
	if err != nil || !maps.EqualFunc(got, files, bytes.Equal) || len(got) < 2 {
		t.Errorf("%v, of %d files %d", err, len(files), len(got))
	}
}

// What is no capture is refused, and what is beside the answers is not read.
func TestReadOdd(t *testing.T) {
	for name, raw := range map[string][]byte{
		"nothing":       nil,
		"text":          []byte("redfish"),
		"no answers":    packed(t, map[string]string{"capture.json": "{}"}),
		"a way out":     packed(t, map[string]string{"../index.json": "{}"}),
		"cut off":       packed(t, map[string]string{"redfish/v1/index.json": "{}"})[:40],
		"an empty name": packed(t, map[string]string{"/index.json": "{}"}),
	} {
		if _, err := capture.Read(bytes.NewReader(raw)); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadBounds: what is compressed to little takes no more memory than the bound.
func TestReadBounds(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "redfish/v1/index.json", Typeflag: tar.TypeReg, Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Read(&out); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packed(f, map[string]string{"redfish/v1/index.json": `{"Systems":{}}`, "capture.json": "{}"}))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		files, err := capture.Read(bytes.NewReader(raw))
		if (err == nil) != (len(files) > 0) {
			t.Fatalf("%d files, %v", len(files), err)
		}
		if err == nil {
			_, _ = tree.Of(files) // it ends
		}
	})
}
