package iso

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	hubapi "rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/iso"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// isoTar is a tar of about 17 MiB, more than a piece, with a different text in each place.
func isoTar(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	content := make([]byte, 17<<20)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
	_, writeErr := w.Write(content)
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sumOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// isoRun has a cache folder of its own.
func isoRun(t *testing.T) (*files.Input, *printer.Printer, *strings.Builder) {
	t.Helper()
	out, cache := &strings.Builder{}, t.TempDir()
	getenv := func(name string) string {
		if name == "XDG_CACHE_HOME" {
			return cache
		}
		return ""
	}
	return &files.Input{Getenv: getenv}, &printer.Printer{Out: out, Err: out, Form: printer.FormTable}, out
}

// What a broken connection and an earlier run have left is gone on with; what somebody else
// has sent under the digest is not believed.
func TestSendISO(t *testing.T) {
	content := isoTar(t)
	req := api.ISOUploadRequest{File: "A.tar", Digest: "sha256:" + sumOf(content), Size: int64(len(content))}
	for _, row := range []struct {
		name string
		left []byte // at the hub, before
		want string
	}{
		{"nothing is there", nil, "uploading A.tar: 100 %"},
		{"half of it is there", content[:10<<20], "10 MiB of 17 MiB are there already"},
		{"all of it is there", content, "the hub checks A.tar"},
		{"something else is there", bytes.Repeat([]byte("x"), 5<<20), "is of another file, and is sent again"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := apitest.New(t)
			if row.left != nil {
				u, err := h.ISOs.Begin(t.Context(), req, "bob")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := h.ISOs.Append(t.Context(), u.ID, 0, bytes.NewReader(row.left)); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "A.tar")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			src, pr, out := isoRun(t)
			if err := uploadISO(t.Context(), src, pr, h.Client(t), isoUpload{}, path); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), row.want) {
				t.Errorf("no %q in\n%s", row.want, out.String())
			}
			f, err := h.Store.ISOs.Get("A.tar")
			if err != nil || f.Digest != req.Digest {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// forgetful loses an upload with each piece, as where another hub answers.
type forgetful struct {
	*iso.Shelf
	times int
}

func (f *forgetful) Append(ctx context.Context, id string, offset int64, r io.Reader) (api.ISOUpload, error) {
	u, err := f.Shelf.Append(ctx, id, offset, r)
	if err == nil && f.times > 0 {
		f.times--
		err = f.Abort(id)
	}
	return u, err
}

// Where another hub answers than the one that has the upload, the file is sent anew, and that is said; not for ever.
func TestSendISOToAnotherHub(t *testing.T) {
	content := isoTar(t)
	for _, row := range []struct {
		times int
		done  bool
	}{{1, true}, {sendAnew - 1, true}, {sendAnew, false}} {
		h := apitest.NewWith(t, func(c *hubapi.Config) { c.ISOs = &forgetful{c.ISOs.(*iso.Shelf), row.times} })
		path := filepath.Join(t.TempDir(), "A.tar")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		src, pr, out := isoRun(t)
		err := uploadISO(t.Context(), src, pr, h.Client(t), isoUpload{}, path)
		if done := err == nil; done != row.done || !strings.Contains(out.String(), "it begins again") {
			t.Errorf("lost %d times: %v\n%s", row.times, err, out.String())
		}
		if !row.done && (protocol.CodeOf(err) != protocol.CodeNotFound || !strings.Contains(protocol.HintOf(err), "--context")) {
			t.Errorf("%v, hint %q", err, protocol.HintOf(err))
		}
		if _, err := h.Store.ISOs.Get("A.tar"); (err == nil) != row.done {
			t.Errorf("the name: %v", err)
		}
	}
}

// A hub without room is not asked again and again.
func TestSendISONoRoom(t *testing.T) {
	h := apitest.New(t)
	path := filepath.Join(t.TempDir(), "A.iso")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(apitest.ISOQuota+1), f.Close()); err != nil { // sparse
		t.Fatal(err)
	}
	src, pr, out := isoRun(t)
	err = uploadISO(t.Context(), src, pr, h.Client(t), isoUpload{}, path)
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "insufficient storage") || strings.Contains(out.String(), "tried again") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Facts §1.1: the entry of an architecture counts if it is there, else for amd64 the fields
// of the operating system.
func TestISOFromEnv(t *testing.T) {
	two := resource.EnvOS{
		IsoFile: "old.iso", IsoSha256: "01", IsoURL: "https://m/old.iso",
		SupportedArchitectures: map[string]resource.EnvArch{"arm64": {IsoFile: "arm.iso", Sha256: "02", IsoURL: "https://m/arm.iso"}},
	}
	one := resource.EnvOS{IsoFile: "old.iso", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "new.iso", IsoURL: "https://m/new.iso"}}}
	for _, row := range []struct {
		name      string
		os        resource.EnvOS
		flags     isoUpload
		from      string
		want      string // from, name and sum
		wantError string
	}{
		{"two, and none is said", two, isoUpload{}, "", "", "amd64, arm64"},
		{"the fields of the system", two, isoUpload{arch: "amd64"}, "", "https://m/old.iso old.iso 01", ""},
		{"an entry", two, isoUpload{arch: "arm64"}, "", "https://m/arm.iso arm.iso 02", ""},
		{"an architecture that is none", two, isoUpload{arch: "riscv64"}, "", "", "amd64, arm64"},
		{"the entry wins", one, isoUpload{}, "", "https://m/new.iso new.iso ", ""},
		{"content from a file", two, isoUpload{arch: "arm64"}, "x.iso", "x.iso arm.iso 02", ""},
		{"another name", two, isoUpload{arch: "arm64", name: "y.iso"}, "", "https://m/arm.iso y.iso 02", ""},
		{"another sum", two, isoUpload{arch: "arm64", sum: "03"}, "", "", "says the SHA-256 02, and --sha256 is 03"},
		{"no file", resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{"amd64": {}}}, isoUpload{}, "", "", "no isoFile"},
		{"no URL", resource.EnvOS{IsoFile: "a.iso"}, isoUpload{}, "", "", "no isoUrl"},
	} {
		env := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: row.os}}
		env.Metadata.Name = "debian-12"
		u := row.flags
		from, err := u.fromEnv(env, row.from)
		if row.wantError != "" {
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.wantError) || protocol.HintOf(err) == "" {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		if got := from + " " + u.name + " " + u.sum; err != nil || got != row.want {
			t.Errorf("%s: %q, %v", row.name, got, err)
		}
	}
}

// From an environment to the hub: its name, its checksum, its URL.
func TestUploadFromEnv(t *testing.T) {
	content := isoTar(t)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer remote.Close()
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{
		Name: "x-1", IsoFile: "X 1.tar", IsoSha256: sumOf(content), IsoURL: remote.URL + "/x.tar?key=sesame",
	}}}
	env.Metadata.Name = "x-1"
	env.Default()
	h := apitest.New(t)
	if err := h.Store.Objects.Put(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	src, pr, out := isoRun(t)
	u := isoUpload{}
	from, err := u.fromEnv(env, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := uploadISO(t.Context(), src, pr, h.Client(t), u, from); err != nil {
		t.Fatal(err)
	}
	f, err := h.Store.ISOs.Get("X 1.tar")
	if err != nil || f.Uploaded != "sha256:"+sumOf(content) || f.Source != remote.URL+"/x.tar" || strings.Contains(out.String(), "sesame") {
		t.Errorf("%+v, %v\n%s", f, err, out.String())
	}
	if left, err := filepath.Glob(filepath.Join(src.Getenv("XDG_CACHE_HOME"), "rackctl", "isos", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
