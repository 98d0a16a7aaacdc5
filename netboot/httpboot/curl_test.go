//go:build host

package httpboot

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurl: a client that shares nothing with net/http.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"http", "https", "https at TLS 1.2", "https with RSA key exchange"}
	for _, row := range []struct {
		name string
		have int // bytes that are there already
		args []string
		said string // by -w
		by   []string
	}{
		{"GET", 0, nil, "200 application/efi", all},
		{"HTTP/1.0", 0, []string{"--http1.0"}, "200 application/efi", []string{"http", "https"}},
		{"resume", 1_000_001, []string{"--continue-at", "-"}, "206 application/efi", all},
		{"resume of the same file only", 1_000_001, []string{"--continue-at", "-", "--header", `If-Match: "e1"`}, "206 application/efi", all[:1]},
		{"several ranges give the whole", 0, []string{"--range", "0-3,8-11"}, "200 application/efi", all[:1]},
		{"compression is not used", 0, []string{"--compressed"}, "200 application/efi", all[:1]},
		{"the path as it is", 0, []string{"--path-as-is", "--url-query", "from=x"}, "200 application/efi", all[:1]},
	} {
		for _, secure := range row.by {
			t.Run(row.name+" by "+secure, func(t *testing.T) {
				w := start(t, func(c *Config) {
					if secure != "http" {
						withTLS(c)
					}
				})
				dir := t.TempDir()
				ca, out := filepath.Join(dir, "ca.pem"), filepath.Join(dir, bootName)
				for name, data := range map[string][]byte{ca: testPKI().pem, out: bootBytes()[:row.have]} {
					if err := os.WriteFile(name, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				scheme, _, _ := strings.Cut(secure, " ")
				args := []string{"--silent", "--show-error", "--fail", "--max-time", "20", "--cacert", ca, "--output", out, "--write-out", "%{http_code} %{content_type}"}
				switch secure {
				case "https at TLS 1.2":
					args = append(args, "--tls-max", "1.2")
				case "https with RSA key exchange":
					args = append(args, "--tls-max", "1.2", "--ciphers", "AES256-GCM-SHA384:AES128-GCM-SHA256")
				}
				args = append(append(args, row.args...), scheme+"://"+w.addr+"/b//"+token+"/"+bootName)
				cmd := exec.CommandContext(t.Context(), curl, args...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				said, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, &stderr)
				}
				if string(said) != row.said {
					t.Errorf("said %s, want %s", said, row.said)
				}
				if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, bootBytes()) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
	}
}
