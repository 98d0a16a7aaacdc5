package probe

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rackboot/netboot/probe/discard"
	"rackboot/protocol"
)

// Disks are discarded as init only, and only where the kernel's arguments say so.
func TestDiscardMode(t *testing.T) {
	if _, err := Parse([]string{"discard"}, io.Discard); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("as a command: %v", err)
	}
	given := arguments("rackboot.mode=discard rackboot.discard=all rackboot.discard.token=t rackboot.url=http://10.7.0.1/b/t/")
	for _, row := range []struct {
		name    string
		cfg     Config
		first   bool
		discard bool
	}{
		{"as init", Config{}, true, true},
		{"as a command", Config{}, false, false},
		{"as a command that reports", Config{State: protocol.ProbeInstalled}, false, false},
		{"as init that was told otherwise", Config{State: protocol.ProbeInstalled}, true, false},
	} {
		if got := row.cfg.fill(given, row.first); got.discard != row.discard {
			t.Errorf("%s: %v", row.name, got.discard)
		}
	}
	if c := (Config{}).fill(arguments("rackboot.mode=discover rackboot.discard=all"), true); c.discard {
		t.Error("discovery discards")
	}
	ask := func(string) (string, error) { return discard.PermitText, nil }
	if err := discard.Permitted(true, given, given[argumentURL], ask); err != nil {
		t.Error(err)
	}
}

func TestRead(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/b/t/discard":
			_, _ = io.WriteString(w, "all\n")
		case "/b/t/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 2*maxAnswer))
		case "/b/t/away":
			http.Redirect(w, r, "/b/t/discard", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer agent.Close()
	p, err := newPoster("", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/b/t/discard": "all\n", "/b/t/long": strings.Repeat("x", maxAnswer), "/b/t/away": "", "/b/old/discard": ""} {
		got, err := p.read(t.Context(), agent.URL+path)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), "/b/") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	agent.Close()
	if _, err := p.read(t.Context(), agent.URL+"/b/t/discard"); protocol.CodeOf(err) != protocol.CodeUnavailable || strings.Contains(err.Error(), "/b/t") {
		t.Error(err)
	}
}
