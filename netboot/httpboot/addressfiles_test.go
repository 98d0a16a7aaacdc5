package httpboot

import (
	"bufio"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/protocol"
)

// leased has the files of an attempt under fixed names, for one address.
type leased struct {
	*dirFiles
	address netip.Addr
}

func (l leased) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	if remote != l.address {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no attempt has %s", remote)
	}
	f, err := l.Open(remote, token, name)
	if err == nil {
		f.Token, f.ContentType = token, ""
	}
	return f, err
}

// TestFixedNames: who has no token is known by its address.
func TestFixedNames(t *testing.T) {
	for _, row := range []struct {
		name, from, method, path string
		status                   int
		fetched                  int
	}{
		{"the file of the lease", "127.0.0.1", "GET", "/small.efi", 200, 1},
		{"HEAD", "127.0.0.1", "HEAD", "/small.efi", 200, 0},
		{"two slashes", "127.0.0.1", "GET", "//small.efi", 200, 1},
		{"a name that is not there (GRUB tries eleven)", "127.0.0.1", "GET", "/grub.cfg-01-52-54-00-00-00-01", 404, 0},
		{"another address", "127.0.0.2", "GET", "/small.efi", 404, 0},
		{"HEAD from another address", "127.0.0.2", "HEAD", "/small.efi", 404, 0},
		{"another method", "127.0.0.1", "PUT", "/small.efi", 405, 0},
		{"the way of tokens is not for fixed names", "127.0.0.1", "GET", "/b/small.efi", 404, 0},
		{"nor that of events", "127.0.0.1", "GET", "/e/small.efi", 404, 0},
		{"a token is not bound to the address", "127.0.0.2", "GET", "/b/" + token + "/small.efi", 200, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := start(t, func(c *Config) {
				c.AddressFiles = leased{c.Files.(*dirFiles), netip.MustParseAddr("127.0.0.1")}
			})
			resp := ask(t, w.dialFrom(t, row.from), row.method, row.path)
			if resp == nil || resp.StatusCode != row.status || resp.ContentLength < 0 {
				t.Fatalf("%+v", resp)
			}
			if resp.StatusCode == 200 && resp.Header.Get("Content-Type") != netboot.TypeEFI {
				t.Errorf("type %s", resp.Header.Get("Content-Type"))
			}
			w.stop()
			events := w.evidence.all()
			if len(events) != row.fetched {
				t.Fatalf("events %+v", events)
			}
			for _, e := range events {
				if e.Token != token || e.File != "small.efi" || e.Remote.String() != row.from {
					t.Errorf("event %+v", e)
				}
			}
		})
	}
}

// countedFiles counts what is looked up.
type countedFiles struct {
	netboot.Files
	opens  int
	remote netip.Addr // of the last
}

func (c *countedFiles) Open(remote netip.Addr, tok, name string) (*netboot.File, error) {
	c.opens++
	c.remote = remote
	return c.Files.Open(remote, tok, name)
}

// TestTokenWithRemote: who asks with a token is told too, as files name addresses that
// the client can reach.
func TestTokenWithRemote(t *testing.T) {
	for _, from := range []string{"127.0.0.1", "127.0.0.2"} {
		files := &countedFiles{}
		w := start(t, func(c *Config) { files.Files, c.Files = c.Files, files })
		resp := ask(t, w.dialFrom(t, from), "GET", "/b/"+token+"/small.efi")
		w.stop()
		if resp == nil || resp.StatusCode != 200 || files.remote.String() != from {
			t.Errorf("%+v, asked by %s, told %s", resp, from, files.remote)
		}
	}
}

// TestUnknownTouchesNothing: what cannot be a name of ours is 404 without a look-up.
func TestUnknownTouchesNothing(t *testing.T) {
	for _, path := range []string{"/", "/b", "/b/" + token, "/b/refused/refused.efi", "/b/" + token + "/../x", "/b/" + token + "/x%00", "/b/" + token + "/onboard%ff", "/e/x", "/ipxe.efi"} {
		files := &countedFiles{}
		w := start(t, func(c *Config) { files.Files, c.Files = c.Files, files })
		status, header, _ := w.get(t, "GET", path, "")
		w.stop()
		if status != "HTTP/1.1 404 Not Found" || header["Content-Length"] != "10" || files.opens != 0 {
			t.Errorf("%s: %s, %v, %d look-ups", path, status, header, files.opens)
		}
	}
}

// TestHost: EDK2 leaves the port out of Host, shim puts it in; both are one server.
func TestHost(t *testing.T) {
	w := start(t)
	for _, host := range []string{"127.0.0.1", w.addr, "[::1]:8080", "boot.example", "BOOT.example:80"} {
		for _, method := range []string{"HEAD", "GET"} {
			c := w.dialFrom(t, "127.0.0.1")
			req, err := http.NewRequest(method, w.base+"/b/"+token+"/small.efi", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			if err := req.Write(c); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), req)
			if err != nil || resp.StatusCode != 200 || resp.ContentLength != 2 || resp.Close {
				t.Errorf("%s with Host %s: %+v, %v", method, host, resp, err)
			}
			c.Close()
		}
	}
}

// TestForgedAddress: who a client is by its address is what its connection has, whatever
// it says, and whatever a proxy would believe.
func TestForgedAddress(t *testing.T) {
	for _, header := range []string{
		"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-IP: 127.0.0.1", "X-Client-IP: 127.0.0.1",
		"True-Client-IP: 127.0.0.1", "CF-Connecting-IP: 127.0.0.1", "Host: 127.0.0.1", "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1",
	} {
		w := start(t, func(c *Config) {
			c.AddressFiles = leased{c.Files.(*dirFiles), netip.MustParseAddr("127.0.0.1")}
		})
		for from, want := range map[string]int{"127.0.0.1": http.StatusOK, "127.0.0.2": http.StatusNotFound} {
			c := w.dialFrom(t, from)
			if !strings.HasPrefix(header, "Host:") {
				header = "Host: x\r\n" + header
			}
			if _, err := io.WriteString(c, "GET /small.efi HTTP/1.1\r\n"+header+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("from %s with %q: %d, want %d", from, header, resp.StatusCode, want)
			}
		}
		w.stop()
		for _, e := range w.evidence.all() {
			if e.Remote.String() != "127.0.0.1" {
				t.Errorf("%q: fetched by %s", header, e.Remote)
			}
		}
		if n := testutil.ToFloat64(w.server.metrics.requests.WithLabelValues("GET", "404")); n != 1 {
			t.Errorf("%q: %v refusals are counted", header, n)
		}
	}
}
