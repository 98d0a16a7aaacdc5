package httpboot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLargeFile: an ISO image over 4 GiB has its length in HEAD, and can be resumed
// beyond what 32 bits count (sections 1.2 and 2).
func TestLargeFile(t *testing.T) {
	const size = 5<<30 + 7
	w := start(t)
	file := filepath.Join(w.files.dir, "large.iso")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	path := "/b/" + token + "/large.iso"
	status, header, _ := w.get(t, "HEAD", path, "")
	if status != "HTTP/1.1 200 OK" || header["Content-Length"] != fmt.Sprint(size) {
		t.Errorf("%s, length %s", status, header["Content-Length"])
	}
	status, header, body := w.get(t, "GET", path, fmt.Sprintf("Range: bytes=%d-\r\nIf-Match: \"e1\"\r\n", size-3))
	if want := fmt.Sprintf("bytes %d-%d/%d", size-3, size-1, size); status != "HTTP/1.1 206 Partial Content" || header["Content-Range"] != want || len(body) != 3 {
		t.Errorf("%s, %s, %d bytes", status, header["Content-Range"], len(body))
	}
}
