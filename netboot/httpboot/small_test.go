package httpboot

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkSmall is a small file for one client on a connection that is kept, as an
// installer fetches packages. Allocations are the server's; the client makes none.
func BenchmarkSmall(b *testing.B) {
	for _, row := range []struct {
		name string
		size int
	}{{"1 KiB", 1 << 10}, {"32 KiB", 32 << 10}} {
		b.Run(row.name, func(b *testing.B) {
			files := &dirFiles{dir: b.TempDir()}
			if err := os.WriteFile(filepath.Join(files.dir, bootName), make([]byte, row.size), 0o600); err != nil {
				b.Fatal(err)
			}
			conn, err := net.Dial("tcp", benchServer(b, Config{Files: files}))
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			request := []byte("GET /b/" + token + "/" + bootName + " HTTP/1.1\r\nHost: x\r\n\r\n")
			answer := make([]byte, 64<<10)
			once := func(least int) (n int) {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if n, err = io.ReadAtLeast(conn, answer, least); err != nil {
					b.Fatal(err)
				}
				return n
			}
			size := once(row.size + 1) // with the header, which comes together with the file
			b.SetBytes(int64(row.size))
			b.ReportAllocs()
			for b.Loop() {
				once(size)
			}
		})
	}
}
