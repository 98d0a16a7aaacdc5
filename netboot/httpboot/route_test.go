package httpboot

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

func TestParseRoute(t *testing.T) {
	long := strings.Repeat("x", maxName)
	for _, row := range []struct {
		path, query string
		want        route
		ok          bool
	}{
		{"/b/t/f.efi", "", route{token: "t", name: "f.efi"}, true},
		{"//b///t//d//f.efi/", "", route{token: "t", name: "d/f.efi"}, true},
		{`/b/t\d\f.efi`, "", route{token: "t", name: "d/f.efi"}, true},
		{"/b/t/report/booted", "", route{token: "t", report: true, state: "booted"}, true},
		{"/b/t/report/booted", "x=/installed", route{token: "t", report: true, state: "booted"}, true},
		{"/b/t/report/discovered", "", route{token: "t", report: true, state: "discovered"}, true},
		{"/b/t/report/failed", "", route{token: "t", report: true, state: "failed"}, true},
		{"/b/t/report/burnt", "", route{}, false},
		{"/b/t/report", "", route{token: "t", report: true}, true},
		{"/b/t/report/booted/more", "", route{}, false},
		{"/b/t/f.efi", "v=1", route{token: "t", name: "f.efi"}, true},
		{"/b/t/f.efi", "sig=a/b", route{token: "t", name: "f.efi"}, true},
		{"/b/t/f.efi", "sig=a/g.EFI", route{token: "t", name: "g.EFI"}, true},
		{"/b/t/d/f.efi", "sig=a/b//g.efi", route{token: "t", name: "d/g.efi"}, true},
		{"/b/t/f.efi", "sig=/%2e%2e.efi", route{token: "t", name: "f.efi"}, true},
		{"/b/t/f.efi", `sig=/..\x.efi`, route{token: "t", name: "f.efi"}, true},
		{"/b/t", "x=/g.efi", route{}, false}, // it would name the token
		{"/b/t", "", route{}, false},
		{"/b", "", route{}, false},
		{"/b/refused/refused.efi", "", route{}, false},
		{"/b/t/../f.efi", "", route{}, false},
		{`/b/t\..\f.efi`, "", route{}, false},
		{"/b/t/./f.efi", "", route{}, false},
		{"/b/t/f\x00.efi", "", route{}, false},
		{"/b/t/f\xff", "", route{}, false},
		{"/b/" + strings.Repeat("t", maxToken+1) + "/f", "", route{}, false},
		{"/b/t/" + long, "", route{token: "t", name: long}, true},
		{"/b/t/" + long + "x", "", route{}, false},
		{"/ipxe.efi", "", route{name: "ipxe.efi"}, true},
		{"//grub//grub.cfg", "", route{name: "grub/grub.cfg"}, true},
		{"/e/token", "", route{}, false},
		{"/", "", route{}, false},
		{"", "", route{}, false},
		{"*", "", route{}, false},
		{"/..", "", route{}, false},
	} {
		got, ok := parseRoute(row.path, row.query)
		if ok != row.ok || (ok && got != row.want) {
			t.Errorf("%.40q ? %q: %+v, %v", row.path, row.query, got, ok)
		}
	}
}

func FuzzParseRoute(f *testing.F) {
	for _, p := range []string{"/b/t/f", "//b//t//f", "/b/t/report/installed", "/b/refused/x", "/b/t/../x", "/b", "", "/b/t/a/b\\c", "/b/t/\x00", "/ipxe.efi", "*"} {
		f.Add(p, "")
		f.Add(p, "x=/grubx64.efi")
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		r, ok := parseRoute(path, query)
		if !ok {
			return
		}
		if r.token == netboot.RefusedToken || strings.ContainsAny(r.token, `/\`) || (r.name == "") != r.report || (r.token == "" && r.report) {
			t.Fatalf("%q gives %+v", path, r)
		}
		if !r.report {
			checkName(t, r.name)
		}
	})
}

// checkName fails for a name that is not clean, as netboot.Files are promised.
func checkName(t *testing.T, name string) {
	t.Helper()
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00\n") {
			t.Errorf("the name %q is not clean", name)
		}
	}
	if len(name) > maxName {
		t.Errorf("a name of %d bytes", len(name))
	}
}

// strictFiles has one file, by a token and for an address, and wants clean names.
type strictFiles struct {
	t     *testing.T
	opens int
}

func (s *strictFiles) Open(_ netip.Addr, tok, name string) (*netboot.File, error) {
	s.opens++
	checkName(s.t, name)
	if tok == token && name == bootName {
		content := struct {
			*bytes.Reader
			io.Closer
		}{bytes.NewReader([]byte("MZ boot")), io.NopCloser(nil)}
		return &netboot.File{ReadSeekCloser: content, Size: 7, ETag: `"e"`, ModTime: time.Unix(1e9, 0), Token: token}, nil
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
}

func (s *strictFiles) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	return s.Open(remote, token, name)
}

func (s *strictFiles) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error {
	return nil
}

// FuzzRequest: whatever a client sends, the answer is one that firmware can take.
func FuzzRequest(f *testing.F) {
	for _, r := range []string{
		"GET /b/" + token + "/" + bootName + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD //b/" + token + "//" + bootName + "?a=/grubx64.efi HTTP/1.1\r\nHost: x:8080\r\nRange: bytes=0-1,2-3\r\n\r\n",
		"GET /" + bootName + " HTTP/1.0\r\nRange: bytes=1-\r\nIf-Range: \"e\"\r\n\r\n",
		"GET /b/" + token + "/" + bootName + " HTTP/1.1\r\nHost: x\r\nIf-Match: \"o\"\r\nIf-None-Match: *\r\nIf-Unmodified-Since: x\r\n\r\n",
		"POST /b/t/report/booted HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
		"POST /b/" + token + "/report HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"state\":\"failed\"}",
		"GET http://x/%2e%2e/%5c HTTP/1.1\r\nHost: x\r\nRange: bytes=9-\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // net/http answers 400 itself
		}
		r.RemoteAddr = "192.0.2.1:4711"
		files := &strictFiles{t: t}
		cfg := Config{Files: files, AddressFiles: files, Evidence: &memEvidence{}, Logger: slog.New(slog.DiscardHandler), Clock: time.Now, MaxClientRequests: 1}
		h := newHandler(cfg, newMetrics(schemeHTTP))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 300 && w.Code < 400 && w.Code != http.StatusNotModified || w.Header().Get("Location") != "" {
			t.Errorf("a redirect: %d %v", w.Code, w.Header())
		}
		for name, values := range w.Header() {
			if len(values) != 1 || values[0] == "" {
				t.Errorf("header %s is %q", name, values)
			}
		}
		if w.Header().Get("Content-Encoding") != "" || w.Header().Get("Transfer-Encoding") != "" {
			t.Errorf("encoded: %v", w.Header())
		}
		if n := w.Header().Get("Content-Length"); n != "" && r.Method != http.MethodHead && w.Code != http.StatusNotModified && n != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%d: length %s, body of %d bytes", w.Code, n, w.Body.Len())
		}
		if len(h.clients.open) != 0 {
			t.Error("the request is counted for ever")
		}
	})
}
