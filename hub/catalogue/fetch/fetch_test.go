package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rackboot/hub/iso"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kernel() []byte { return bytes.Repeat([]byte("kernel 0123456789 "), 20_000) }

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (m *mirror) file(name string, content []byte, signed bool) resource.BootImageFile {
	f := resource.BootImageFile{Kind: resource.ArtefactKernel, URL: m.URL + "/" + name, SHA256: sumOf(content)}
	if signed {
		f.Signature = &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: m.URL + "/" + name + ".sig"}
	}
	return f
}

// Facts of boot images, section 5, row 22: sum, signature and what is in a compressed file.
func TestFetch(t *testing.T) {
	plain := kernel()
	packed := zipped(t, plain)
	m := newMirror(t, map[string][]byte{"k": plain, "k.sig": []byte("fedora " + sumOf(plain)), "k.gz": packed, "k.gz.sig": []byte("fedora " + sumOf(packed))})
	b := newBench(t, t.TempDir(), nil)
	v, err := b.Fetch(t.Context(), m.file("k", plain, true))
	if err != nil || v.Digest != "sha256:"+sumOf(plain) || v.Size != int64(len(plain)) || v.At.IsZero() || v.Signature == nil || v.Signature.Key != "FFFF" || v.Signature.Keyring != resource.KeyringHub {
		t.Fatalf("%+v, %v", v, err)
	}
	if !bytes.Equal(b.content(t, v.Digest), plain) {
		t.Error("another content")
	}
	_, sent := m.seen()
	_, err = b.Fetch(t.Context(), m.file("k", plain, false))
	if _, now := m.seen(); err != nil || now != sent {
		t.Errorf("fetched again: %v", err)
	}
	b = newBench(t, t.TempDir(), nil)
	f := m.file("k.gz", packed, true)
	f.UncompressedSHA256 = sumOf(plain)
	if v, err = b.Fetch(t.Context(), f); err != nil || v.Digest != "sha256:"+sumOf(plain) || v.Size != int64(len(plain)) || v.Signature == nil {
		t.Fatalf("%+v, %v", v, err)
	}
	if !bytes.Equal(b.content(t, v.Digest), plain) {
		t.Error("another content is booted")
	}
}

// What is not what the entry says is never verified.
func TestFetchRefuses(t *testing.T) {
	plain := kernel()
	packed := zipped(t, plain)
	other := append(bytes.Clone(plain[:len(plain)-1]), 'x')
	none := func(c *iso.Config) { c.Verifier, c.Keyring = nil, nil }
	for _, row := range []struct {
		name    string
		content []byte
		file    func(*resource.BootImageFile)
		sig     string
		shelf   func(*iso.Config)
		server  func(*mirror)
		code    protocol.Code
		says    string
	}{
		{"another sum", other, nil, "", nil, nil, protocol.CodeInvalid, "is not what the entry says"},
		{"truncated at the server", plain[:1000], nil, "", nil, nil, protocol.CodeInvalid, "is not what the entry says"},
		{"a signature of other content", plain, nil, "fedora " + sumOf(other), nil, nil, protocol.CodeInvalid, "does not fit"},
		{"a key that nobody knows", plain, nil, "mallory " + sumOf(plain), nil, nil, protocol.CodeDenied, "key mallory"},
		{"a signature that is not there", plain, func(f *resource.BootImageFile) {
			f.Signature = &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: f.URL + ".none"}
		}, "", nil, nil, protocol.CodeNotFound, "404"},
		{"a signature without end", plain, nil, strings.Repeat("x", maxSignature+1), nil, nil, protocol.CodeInvalid, "no detached signature"},
		{"no keys at the hub", plain, nil, "fedora " + sumOf(plain), none, nil, protocol.CodeUnsupported, "isos.keyring"},
		{"signed files only", plain, nil, "", func(c *iso.Config) { c.RequireSignature = true }, nil, protocol.CodeDenied, "signed files only"},
		{"not compressed", plain, func(f *resource.BootImageFile) { f.UncompressedSHA256 = sumOf(other) }, "", nil, nil, protocol.CodeInvalid, "not compressed"},
		{"another sum inside", packed, func(f *resource.BootImageFile) { f.SHA256, f.UncompressedSHA256 = sumOf(packed), sumOf(other) }, "", nil, nil, protocol.CodeInvalid, "what is in it"},
		{"damaged inside", packed[:len(packed)-9], func(f *resource.BootImageFile) {
			f.SHA256, f.UncompressedSHA256 = sumOf(packed[:len(packed)-9]), sumOf(plain)
		}, "", nil, nil, protocol.CodeInvalid, "damaged"},
		{"gone", plain, func(f *resource.BootImageFile) { f.URL += "x" }, "", nil, nil, protocol.CodeNotFound, "404"},
		{"no length", plain, nil, "", nil, func(m *mirror) { m.noLength = true }, protocol.CodeUnsupported, "how long"},
		{"a server that cuts each time", plain, nil, "", nil, func(m *mirror) { m.cut, m.cuts, m.noRanges = 1000, 100, true }, protocol.CodeUnavailable, ""},
		{"no room", plain, nil, "", func(c *iso.Config) { c.Quota = 1000 }, nil, protocol.CodeUnavailable, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMirror(t, map[string][]byte{"k": row.content, "k.sig": []byte(row.sig)})
			if row.server != nil {
				row.server(m)
			}
			b := newBench(t, t.TempDir(), row.shelf)
			f := m.file("k", plain, row.sig != "")
			if row.file != nil {
				row.file(&f)
			}
			v, err := b.Fetch(t.Context(), f)
			if protocol.CodeOf(err) != row.code || !strings.Contains(err.Error()+protocol.HintOf(err), row.says) || v.Digest != "" && v.At.IsZero() == false {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// What came stays over breaks of the server, and of the hub; another version is begun anew.
func TestResume(t *testing.T) {
	plain := kernel()
	for _, row := range []struct {
		name            string
		then            func(*mirror)
		fresh           bool // the hub is restarted between
		range2, ifRange string
		sent            int // bytes in all
	}{
		{"a break", nil, false, "bytes=1000-", `"1"`, len(plain)},
		{"a restart", nil, true, "bytes=1000-", "", len(plain)},
		{"another version, the same content", func(m *mirror) { m.etag = `"2"` }, false, "bytes=1000-", `"1"`, 1000 + 2*len(plain)},
		{"no ranges any more", func(m *mirror) { m.noRanges = true }, false, "bytes=1000-", `"1"`, 1000 + 2*len(plain)},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			m := newMirror(t, map[string][]byte{"k": plain})
			m.cut, m.cuts = 1000, 1
			b, err := openBench(dir, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			f := m.file("k", plain, false)
			if n, err := b.piece(ctx, f.URL, "sha256:"+f.SHA256); n != 1000 || protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Fatalf("%d, %v", n, err)
			}
			cancel()
			if row.fresh {
				if err := b.shelf.Close(); err != nil {
					t.Fatal(err)
				}
				b = newBench(t, dir, nil)
			} else {
				t.Cleanup(func() { _ = b.shelf.Close() })
			}
			if row.then != nil {
				m.set(row.then)
			}
			v, err := b.Fetch(t.Context(), f)
			if err != nil || !bytes.Equal(b.content(t, v.Digest), plain) {
				t.Fatal(v, err)
			}
			asked, sent := m.seen()
			if len(asked) < 2 || asked[1] != row.range2+"|"+row.ifRange+"|" {
				t.Errorf("asked %q", asked)
			}
			if sent > row.sent || sent < len(plain) {
				t.Errorf("%d bytes were sent, at most %d are needed", sent, row.sent)
			}
		})
	}
}

// A server that breaks off again and again is gone on with, while it gets further.
func TestManyBreaks(t *testing.T) {
	plain := kernel()
	m := newMirror(t, map[string][]byte{"k": plain})
	m.cut, m.cuts = len(plain)/20, 15
	b := newBench(t, t.TempDir(), nil)
	if v, err := b.Fetch(t.Context(), m.file("k", plain, false)); err != nil || !bytes.Equal(b.content(t, v.Digest), plain) {
		t.Fatal(v, err)
	}
	if asked, sent := m.seen(); sent != len(plain) || len(asked) != 16 {
		t.Errorf("%d bytes in %d answers", sent, len(asked))
	}
}

// A file that was refused is not fetched again as long as the server says that it is the
// same; when it is another one, it is.
func TestRefusedIsNotFetchedAgain(t *testing.T) {
	plain := kernel()
	m := newMirror(t, map[string][]byte{"k": []byte("another")})
	b := newBench(t, t.TempDir(), nil)
	f := m.file("k", plain, false)
	_, first := b.Fetch(t.Context(), f)
	_, sent := m.seen()
	_, second := b.Fetch(t.Context(), f)
	if asked, now := m.seen(); first == nil || second == nil || first.Error() != second.Error() || now != sent || !slices.Contains(asked, `||"1"`) {
		t.Errorf("%v; %v; %d bytes, asked %q", first, second, now-sent, asked)
	}
	m.set(func(m *mirror) { m.files["k"], m.etag = plain, `"2"` })
	if _, err := b.Fetch(t.Context(), f); err != nil {
		t.Error(err)
	}
}

// What is in a URL may be a credential, and a redirect may not leave TLS.
func TestURLs(t *testing.T) {
	plain := kernel()
	m := newMirror(t, map[string][]byte{"k": plain})
	secure := httptest.NewTLSServer(http.RedirectHandler(m.URL+"/k", http.StatusFound))
	defer secure.Close()
	b := newBench(t, t.TempDir(), nil)
	f := m.file("k", plain, false)
	f.URL = "http://127.0.0.1:1/k?token=secret"
	if _, err := b.Fetch(t.Context(), f); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	f.URL = secure.URL + "/k"
	if _, err := b.Fetch(t.Context(), f); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
	b.client.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	if _, err := b.Fetch(t.Context(), f); protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("out of TLS: %v", err)
	}
	if _, err := New(Config{Shelf: b.shelf, Clock: b.cfg.Clock, Registerer: b.cfg.Registerer, CA: []byte("x")}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("CAs that are none: %v", err)
	}
}

// Wherever the hub dies, the next try ends with the file, and asks for no byte twice that
// was on disk.
func TestCrashPoints(t *testing.T) {
	plain := kernel()
	packed := zipped(t, plain)
	m := newMirror(t, map[string][]byte{"k.gz": packed})
	f := m.file("k.gz", packed, false)
	f.UncompressedSHA256 = sumOf(plain)
	passed := map[string]bool{}
	statetest.Points(t, func(run statetest.Run) {
		// The child has no server of the parent's: it makes its own of the same content.
		own := httptest.NewServer(&mirror{files: map[string][]byte{"k.gz": packed}, etag: `"1"`, cut: 100, cuts: 1})
		defer own.Close()
		b, err := openBench(run.Dir, run.Crash, nil)
		if err != nil {
			panic(err)
		}
		mine := f
		mine.URL = own.URL + "/k.gz"
		if _, err := b.Fetch(context.Background(), mine); err != nil {
			panic(err)
		}
		run.Ack("done")
	}, func(t *testing.T, k statetest.Kill) {
		passed[k.Point] = true
		b := newBench(t, k.Dir, nil)
		v, err := b.Fetch(t.Context(), f)
		if err != nil || !bytes.Equal(b.content(t, v.Digest), plain) {
			t.Errorf("%+v, %v", v, err)
		}
	})
	for _, p := range []string{"hub.catalogue.piece", "hub.catalogue.fetched", "hub.catalogue.unpacked"} {
		if !passed[p] {
			t.Errorf("%s was not passed", p)
		}
	}
}

// FuzzRange: whatever a server says of a range, it is a place in the file or refused.
func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes 0-9/10", "bytes 5-9/*", "bytes */10", "items 0-1/2", "bytes 9-1/5", "bytes -1-2/3", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		begins, total, err := rangeOf("fetch", "https://m.example/k", &http.Response{StatusCode: http.StatusPartialContent, Header: http.Header{"Content-Range": {s}}})
		if err == nil && (begins < 0 || total < begins) {
			t.Errorf("%q: %d of %d", s, begins, total)
		}
	})
}
