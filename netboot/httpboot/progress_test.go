package httpboot

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot"
)

// TestProgress: a transfer may take as long as it goes on, and ends when it
// stands still.
func TestProgress(t *testing.T) {
	for _, row := range []struct {
		name  string
		pause time.Duration // before reading half a chunk
		whole bool
		certs netboot.Certificates
	}{
		{"slow: two chunks in longer than the timeout", progressTimeout / 4, true, nil},
		{"standing still", 2 * progressTimeout, false, nil},
		{"slow, by HTTPS", progressTimeout / 4, true, testPKI()},
		{"standing still, by HTTPS", 2 * progressTimeout, false, testPKI()},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, bootName), make([]byte, 2*progressChunk), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				near, server := net.Pipe() // what the client does not read is not sent
				evidence := &memEvidence{}
				s, err := New(Config{Listener: &oneConn{conn: server, closed: make(chan struct{})}, Files: &dirFiles{dir: dir}, Evidence: evidence, Certificates: row.certs})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- s.Run(ctx) }()
				client := near
				if row.certs != nil {
					client = tls.Client(near, &tls.Config{InsecureSkipVerify: true})
				}
				start := time.Now()
				if _, err := io.WriteString(client, "GET /b/"+token+"/"+bootName+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				for err == nil {
					time.Sleep(row.pause)
					_, err = io.CopyN(io.Discard, client, progressChunk/2)
				}
				if took := time.Since(start); took <= progressTimeout {
					t.Errorf("ended after %s", took)
				}
				near.Close()
				cancel()
				if err := <-done; err != nil {
					t.Errorf("Run: %v", err)
				}
				if got := len(evidence.all()) == 1; got != row.whole {
					t.Errorf("the whole file was sent: %v", got)
				}
			})
		})
	}
}
