package fsview

import (
	"io/fs"
	"testing"
	"time"

	"rackboot/protocol"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// memory is files whose content is their text.
func memory(t testing.TB, files map[string]string) fs.FS {
	t.Helper()
	m := Memory{}
	for name, text := range files {
		m[name] = []byte(text)
	}
	fsys, err := m.FS(noon)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// view makes a view that is released in the end.
func view(t testing.TB, mounts ...Mount) *View {
	t.Helper()
	v, err := New(mounts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Release)
	return v
}

// text is what a file says.
func text(t testing.TB, fsys fs.FS, name string) string {
	t.Helper()
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantCode fails unless an error has a code and, but for internal ones, a hint or a
// meaning of the fs package.
func wantCode(t testing.TB, err error, code protocol.Code) {
	t.Helper()
	if protocol.CodeOf(err) != code {
		t.Errorf("error %v has code %q, want %q", err, protocol.CodeOf(err), code)
	}
}
