package rack

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// piece is how much of a large file is asked for at once, in bytes.
const piece = 16 << 20

// stream reads a file by ranges, as who resumes does, and the marks that are in it each by
// a range of its own. After each range look is called. It returns how much came.
func (b *bench) stream(url string, from netip.Addr, marks map[int64]string, look func()) (got int64) {
	b.t.Helper()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}).DialContext}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	ask := func(first, n int64, take func(io.Reader) (int64, error)) (int64, int64) {
		b.t.Helper()
		req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, url, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, first+n-1))
		resp, err := client.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		defer resp.Body.Close()
		read, err := take(resp.Body)
		if err != nil || resp.StatusCode != http.StatusPartialContent {
			b.t.Fatalf("from %d: %s, %v", first, resp.Status, err)
		}
		look()
		var begin, end, size int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &begin, &end, &size); err != nil || begin != first || end-begin+1 != read {
			b.t.Fatalf("from %d: %q, %d bytes, %v", first, resp.Header.Get("Content-Range"), read, err)
		}
		return read, size
	}
	for at, mark := range marks {
		ask(at, int64(len(mark)), func(r io.Reader) (int64, error) {
			text, err := io.ReadAll(r)
			if string(text) != mark {
				b.t.Errorf("at %d there is %q, not %q", at, text, mark)
			}
			return int64(len(text)), err
		})
	}
	for size := int64(1); got < size; {
		var read int64
		read, size = ask(got, piece, func(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) })
		got += read
	}
	return got
}
