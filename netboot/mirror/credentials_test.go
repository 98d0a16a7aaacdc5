package mirror_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// Credentials go to what is below their base, and nowhere else.
func TestCredentials(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]string{}
	note := func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Host+r.URL.Path] = r.Header.Get("Authorization")
	}
	cdn := serve(t, http.HandlerFunc(note))
	var s *httptest.Server
	s = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(w, r)
		switch r.URL.Path {
		case "/private/cdn":
			http.Redirect(w, r, cdn.URL+"/x?signature=s3cret", http.StatusFound)
		case "/private/out":
			http.Redirect(w, r, s.URL+"/public/b", http.StatusFound)
		case "/private/in":
			http.Redirect(w, r, "/private/b", http.StatusFound)
		}
	}))
	host, cdnHost := strings.TrimPrefix(s.URL, "http://"), strings.TrimPrefix(cdn.URL, "http://")
	m := open(t, mirror.Config{Bases: []mirror.Base{
		{URL: s.URL}, {URL: s.URL + "/private", Username: "rack", Password: "hunter2", Hosts: []string{cdnHost}}, {URL: s.URL + "/token", Bearer: "tok"},
	}})
	for _, name := range []string{"public/a", "private/a", "private/cdn", "private/out", "private/in", "token/a"} {
		base, file, _ := strings.Cut(name, "/")
		want(t, tree(t, m, s.URL+"/"+base), file, "")
	}
	mu.Lock()
	defer mu.Unlock()
	const basic = "Basic cmFjazpodW50ZXIy"
	for place, want := range map[string]string{
		host + "/public/a": "", host + "/private/a": basic, host + "/token/a": "Bearer tok",
		cdnHost + "/x": "", host + "/public/b": "", host + "/private/b": basic,
	} {
		if got, ok := seen[place]; !ok || got != want {
			t.Errorf("%s got %q, %v", place, got, ok)
		}
	}
}

func TestRedirects(t *testing.T) {
	var to atomic.Value
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to.Load().(string))
		w.WriteHeader(http.StatusFound)
	}))
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL, Hosts: []string{"cdn.example"}}}})
	for _, c := range []struct{ name, to, words string }{
		{"other host", "http://other.example/a?token=s3cret", "redirects to http://other.example/a, which is not allowed"},
		{"other port", "http://cdn.example:8080/a", "not allowed"},
		{"a user", "http://u:s3cret@cdn.example/a", "not allowed"},
		{"other scheme", "ftp://cdn.example/a", "not allowed"},
		{"a file", "file:///etc/passwd", "not allowed"},
		{"nowhere", "", "no URL"},
		{"no URL", "http://[", "no URL"},
		{"for ever", "/a", "more than 5 times"},
		{"metadata", "http://169.254.169.254/latest", "not allowed"},
	} {
		to.Store(c.to)
		_, err := tree(t, m, s.URL).Open(strings.ReplaceAll(c.name, " ", "_"))
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// HTTPS with the base's own authority, over HTTP/2; others are not trusted, and nothing
// leads from https to http.
func TestTLS(t *testing.T) {
	var proto, to atomic.Value
	to.Store("")
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
		if to := to.Load().(string); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("abc"))
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	m := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL, CA: authority}}})
	want(t, tree(t, m, s.URL), "a", "abc")
	if proto.Load() != "HTTP/2.0" {
		t.Errorf("asked by %s", proto.Load())
	}
	to.Store(strings.Replace(s.URL, "https:", "http:", 1) + "/b")
	if _, err := tree(t, m, s.URL).Open("b"); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("from https to http: %v", err)
	}
	other := open(t, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}})
	if _, err := tree(t, other, s.URL).Open("a"); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a stranger's certificate: %v", err)
	}
}

// What the other side says is repeated without the secrets that it was sent.
func TestSecretsStayOut(t *testing.T) {
	var log bytes.Buffer
	cfg := mirror.Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	secrets := []string{"hunter2", "cmFjazpodW50ZXIy"}
	base := mirror.Base{URL: "http://echo.example/", Username: "rack", Password: "hunter2"}
	cfg.Bases = []mirror.Base{base}
	cfg.Logger.Info("base", "base", base, "bases", cfg.Bases)
	bubble(t, cfg, func(t *testing.T, b *bench) {
		go func() { // in place of HTTP it sends back what it gets
			for {
				c, err := b.listener.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 4096)
				n, _ := c.Read(buf)
				at := bytes.Index(buf[:n], []byte("Basic "))
				_, _ = c.Write(append(buf[max(at, 0):n], "\r\n\r\n"...))
				_ = c.Close()
			}
		}()
		b.listener.Cut()
		failed := false
		for i := range 20 { // some go to the server that makes sense
			_, err := fs.ReadFile(tree(t, b.m, base.URL), string(rune('a'+i)))
			failed = failed || err != nil && strings.Contains(err.Error(), "malformed")
			text := fmt.Sprintf("%+v", b.m.State(base.URL))
			if err != nil {
				text += err.Error() + protocol.HintOf(err)
			}
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("it says %s", text)
				}
			}
			time.Sleep(time.Minute)
		}
		if !failed {
			t.Error("nothing was sent back")
		}
	})
	for _, s := range secrets {
		if strings.Contains(log.String(), s) {
			t.Errorf("the log has %s: %s", s, &log)
		}
	}
}
