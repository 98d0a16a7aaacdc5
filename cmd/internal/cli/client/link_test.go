package client

import (
	"os"
	"path/filepath"
	"testing"
)

// A link stays with its hub when another context is chosen, keeps its client while nothing changes, and has a new
// one with a new token. A context that is gone is an error.
func TestLinkStaysWithItsHub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hubs := &Hubs{Getenv: func(k string) string { return map[string]string{"RACKCTL_CONFIG": path}[k] }}
	write("current: a\ncontexts:\n- {name: a, url: https://a.example:8443, token: t1}\n- {name: b, url: https://b.example, token: t2}\n")
	l, err := hubs.Link()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first, err := l.Client()
	if err != nil {
		t.Fatal(err)
	}
	write("current: b\ncontexts:\n- {name: a, url: https://a.example:8443, token: t1}\n- {name: b, url: https://b.example, token: t2}\n")
	if c, err := l.Client(); err != nil || c != first || l.Host() != "a.example:8443" {
		t.Errorf("%v, the same client %t, %s", err, c == first, l.Host())
	}
	write("current: b\ncontexts:\n- {name: a, url: https://a.example:8443, token: t3}\n")
	second, err := l.Client()
	if err != nil || second == first {
		t.Errorf("%v, the same client %t", err, second == first)
	}
	write("current: b\ncontexts:\n- {name: b, url: https://b.example, token: t2}\n")
	if _, err := l.Client(); err == nil {
		t.Error("its context is gone, and it talks to somebody")
	}
	write("current: a\ncontexts:\n- {name: a, url: https://a.example:8443, token: t3}\n")
	if c, err := l.Client(); err != nil || c != second {
		t.Errorf("%v, the same client %t", err, c == second)
	}
}
