package firmware

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

// TestLoad is what EDK2's HTTP client takes and refuses of a server.
func TestLoad(t *testing.T) {
	file := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/efi")
			_, _ = io.WriteString(w, body)
		}
	}
	for _, row := range []struct {
		name    string
		handler http.HandlerFunc
		want    error // nil is success
		code    protocol.Code
	}{
		{"a file", file("MZ"), nil, ""},
		{"redirect is not followed", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/moved.efi" {
				http.Redirect(w, r, "/moved.efi", http.StatusMovedPermanently)
				return
			}
			file("MZ")(w, r)
		}, ErrProtocol, protocol.CodeInvalid},
		{"HEAD fails, GET counts (HttpBootImpl.c)", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			file("MZ")(w, r)
		}, nil, ""},
		{"chunked: no length from HEAD, GET counts", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/efi")
			w.(http.Flusher).Flush()
			if r.Method != http.MethodHead {
				_, _ = io.WriteString(w, "MZ")
			}
		}, nil, ""},
		{"HEAD and GET differ in length", func(w http.ResponseWriter, r *http.Request) {
			file(strings.Repeat("x", 1+len(r.Method)))(w, r)
		}, ErrProtocol, protocol.CodeInvalid},
		{"404", http.NotFound, ErrRefused, protocol.CodeNotFound},
		{"401", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, ErrProtocol, protocol.CodeInvalid},
		{"first byte too late", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, nil, protocol.CodeTimeout},
		{"a gap in the body", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4")
			w.Header().Set("Content-Type", "application/efi")
			_, _ = io.WriteString(w, "MZ")
			w.(http.Flusher).Flush()
			if r.Method == http.MethodGet {
				<-r.Context().Done()
			}
		}, nil, protocol.CodeTimeout},
		{"cut off", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4")
			w.Header().Set("Content-Type", "application/efi")
			_, _ = io.WriteString(w, "MZ")
			if r.Method == http.MethodGet {
				panic(http.ErrAbortHandler)
			}
		}, nil, protocol.CodeUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Host != "127.0.0.1" || r.Header.Get("User-Agent") != "UefiHttpBoot/1.0" || r.Header.Get("Accept") != "*/*" || r.Header.Get("Accept-Encoding") != "" {
					t.Errorf("host %q and headers %v are not EDK2's", r.Host, r.Header)
				}
				row.handler(w, r)
			}))
			defer s.Close()
			c := &Client{HTTPTimeout: time.Minute}
			if row.code == protocol.CodeTimeout {
				c.HTTPTimeout = 200 * time.Millisecond
			}
			got, err := c.load(t.Context(), s.URL+"/secret/boot")
			if row.want == nil && row.code == "" {
				if err != nil || got.Size != 2 || got.ContentType != "application/efi" {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if protocol.CodeOf(err) != row.code || (row.want != nil && !errors.Is(err, row.want)) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has the path: %v", err)
			}
		})
	}
}

// TestFrom: a machine of many on one host has an address of its own, by which servers count
// its connections.
func TestFrom(t *testing.T) {
	from := make(chan string, 4)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from <- r.RemoteAddr
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	for _, row := range []struct{ own, want string }{{"127.77.0.10", "127.77.0.10:"}, {"10.0.0.1", "127.0.0.1:"}} {
		c := &Client{MAC: make([]byte, 6), From: netip.MustParseAddr(row.own)}
		if err := c.Report(t.Context(), srv.URL+"/", protocol.ProbeReport{State: protocol.ProbeBooted}); err != nil {
			t.Fatal(err)
		}
		if got := <-from; !strings.HasPrefix(got, row.want) {
			t.Errorf("a machine with %s came from %s, want %s", row.own, got, row.want)
		}
	}
}
