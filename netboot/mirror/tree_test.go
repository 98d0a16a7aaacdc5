package mirror_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

func TestOpen(t *testing.T) {
	o := newOrigin()
	o.put("/debian/dists/stable/linux", page{content: "kernel", etag: `"k1"`})
	o.put("/debian/pool/libstdc++6.deb", page{content: "package"})
	s := serve(t, o)
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}})
	fsys := tree(t, m, s.URL+"/debian/")
	for range 2 {
		want(t, fsys, "dists/stable/linux", "kernel")
		want(t, fsys, "pool/libstdc++6.deb", "package")
	}
	if got := o.requests(); !slices.Equal(got, []string{"GET /debian/dists/stable/linux", "GET /debian/pool/libstdc%2B%2B6.deb"}) {
		t.Errorf("asked %q", got)
	}
	if _, err := m.Fetch(t.Context(), "p", s.URL+"/debian", []mirror.Want{{Name: "dists/stable/linux"}}); err != nil { // until it is on the disk
		t.Fatal(err)
	}
	f, err := fsys.Open("dists/stable/linux")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || fi.Size() != 6 || fi.Name() != "linux" || fi.Mode() != 0o444 || fi.ModTime().IsZero() || f.(interface{ ETag() string }).ETag() != `"k1"` {
		t.Errorf("Stat: %v, %v", fi, err)
	}
	if err := iotest.TestReader(f, []byte("kernel")); err != nil {
		t.Error(err)
	}
	if _, ok := f.(io.ReaderAt); !ok {
		t.Error("it is no ReaderAt")
	}
	if got, err := io.ReadAll(io.NewSectionReader(f.(interface{ OSFile() *os.File }).OSFile(), 0, 100)); err != nil || string(got) != "kernel" {
		t.Errorf("the file itself: %q, %v", got, err)
	}
	if h := o.seen[0]; h.Get("Accept-Encoding") != "identity" {
		t.Errorf("asked with %v", h)
	}
	fi, err = fs.Stat(fsys, "pool/libstdc++6.deb")
	if err != nil || fi.Size() != 7 || fi.ModTime().UTC().Format(http.TimeFormat) != lastChange {
		t.Errorf("Stat: %v, %v", fi, err)
	}
}

// Some servers send a file's suffix as its encoding, and some do not know HEAD.
func TestOddServers(t *testing.T) {
	o := newOrigin()
	gzip := http.Header{"Content-Encoding": {"x-gzip"}}
	o.put("/initrd.gz", page{content: "packed", header: gzip})
	o.put("/linux", page{content: "packed", header: gzip})
	o.put("/a", page{content: "abc", noHead: true})
	s := serve(t, o)
	fsys := tree(t, open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}}), s.URL)
	want(t, fsys, "initrd.gz", "packed")
	if _, err := fsys.Open("linux"); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "x-gzip") {
		t.Errorf("%v", err)
	}
	if fi, err := fs.Stat(fsys, "a"); err != nil || fi.Size() != 3 {
		t.Errorf("%v, %v", fi, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	o := newOrigin()
	s := serve(t, o)
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL + "/debian"}}})
	fsys := tree(t, m, s.URL+"/debian")
	for _, name := range []string{
		"../secret", "/etc/passwd", "a/../b", "a//b", "a/", "", `a\b`, "a?b=c", "a#b", "a%2fb", "a%2F..%2Fb", "%2e%2e/b", "a%00", "a%252fb", "a\x00b", "a\nb", "a%5cb",
	} {
		_, err := fsys.Open(name)
		if !errors.Is(err, fs.ErrInvalid) || protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("Open(%q): %v", name, err)
		}
		if _, err := fs.Stat(fsys, name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Stat(%q): %v", name, err)
		}
	}
	if got := o.requests(); got != nil {
		t.Errorf("asked %q", got)
	}
	for base, code := range map[string]protocol.Code{
		s.URL:                               protocol.CodeDenied, // above what is allowed
		s.URL + "/debian2":                  protocol.CodeDenied,
		s.URL + "/debian/../x":              protocol.CodeInvalid,
		s.URL + "/debian/%2e%2e/x":          protocol.CodeInvalid,
		s.URL + "/debian%2fx":               protocol.CodeInvalid,
		s.URL + "/debian?x=y":               protocol.CodeInvalid,
		s.URL + "/debian#x":                 protocol.CodeInvalid,
		"http://user:pass@127.0.0.1/debian": protocol.CodeInvalid,
		"ftp://127.0.0.1/debian":            protocol.CodeInvalid,
		"http:///debian":                    protocol.CodeInvalid,
		"file:///debian":                    protocol.CodeInvalid,
		"http://elsewhere.example/debian":   protocol.CodeDenied,
	} {
		if _, err := m.FS(base); protocol.CodeOf(err) != code || protocol.HintOf(err) == "" {
			t.Errorf("FS(%q): %v, want %s", base, err, code)
		}
	}
}

// HTTP has no listing; that a name is a folder's is told by the redirect of most servers.
func TestFolders(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/pub/pool/", func(http.ResponseWriter, *http.Request) {})
	s := serve(t, mux)
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}})
	fsys := tree(t, m, s.URL+"/pub")
	for _, name := range []string{".", "pool"} {
		fi, err := fs.Stat(fsys, name)
		if err != nil || !fi.IsDir() {
			t.Errorf("Stat(%s): %v, %v", name, fi, err)
		}
		f, err := fsys.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if fi, err = f.Stat(); err != nil || !fi.IsDir() {
			t.Errorf("Stat of %s: %v, %v", name, fi, err)
		}
		if _, err := f.Read(nil); !errors.Is(err, mirror.ErrFolder) {
			t.Errorf("Read: %v", err)
		}
		if _, err := f.(fs.ReadDirFile).ReadDir(0); !errors.Is(err, mirror.ErrFolder) || protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("ReadDir: %v", err)
		}
		if _, err := fs.ReadDir(fsys, name); !errors.Is(err, mirror.ErrFolder) {
			t.Errorf("ReadDir: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whoever looks for a file folder by folder does not ask for each each time.
func TestFoldersAreRemembered(t *testing.T) {
	o := newOrigin()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pool" {
			o.ServeHTTP(httptest.NewRecorder(), r) // counts
			http.Redirect(w, r, "/pool/", http.StatusMovedPermanently)
		}
	}))
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}})
	for range 3 {
		fi, err := fs.Stat(tree(t, m, s.URL), "pool")
		if err != nil || !fi.IsDir() {
			t.Fatalf("%v, %v", fi, err)
		}
	}
	if got := o.requests(); !slices.Equal(got, []string{"HEAD /pool"}) {
		t.Errorf("asked %q", got)
	}
}
