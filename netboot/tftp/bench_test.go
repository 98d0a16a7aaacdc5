package tftp

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
)

// diskFiles has one file on disk.
type diskFiles struct{ path string }

func (d diskFiles) Open(netip.Addr, string, string) (*netboot.File, error) {
	return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no token")
}

func (d diskFiles) OpenFor(netip.Addr, string) (*netboot.File, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &netboot.File{ReadSeekCloser: f, Size: st.Size()}, nil
}

type noEvidence struct{}

func (noEvidence) Record(netboot.Event) {}

// BenchmarkTransfer is one client over the loopback interface, of whose time the
// client's own packets are a part. Allocations are those of a whole transfer.
func BenchmarkTransfer(b *testing.B) {
	const size = 16 << 20
	path := filepath.Join(b.TempDir(), "boot.efi")
	if err := os.WriteFile(path, pattern(size), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, blksize := range []int{edk2Blksize, maxBlksize} {
		for _, window := range []int{1, 4, 16, 64} {
			b.Run(fmt.Sprintf("blksize=%d/window=%d", blksize, window), func(b *testing.B) {
				registry := prometheus.NewRegistry()
				s, err := New(Config{
					Registerer: registry,
					Segment:    "bench", Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: diskFiles{path}, Evidence: noEvidence{},
					Limits: Limits{Blksize: blksize, Rate: 1e6, Burst: 1e6},
				})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				sock := udp(b)
				_ = sock.SetReadBuffer(8 << 20) // the kernel may give less; windows of 4 MiB are then cut
				c := &client{
					sock: sock, server: addrPort(s.Addr()), discard: true,
					options: []option{{"blksize", strconv.Itoa(blksize)}, {"windowsize", strconv.Itoa(window)}},
				}
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.fetch("boot.efi"); err != nil || c.bytes != size {
						b.Fatal(c.bytes, err)
					}
				}
				b.StopTimer()
				b.ReportMetric(float64(counted(b, registry, "rackboot_tftp_retransmits_total", ""))/float64(b.N), "again/op")
				cancel()
				if err := <-done; err != nil {
					b.Error(err)
				}
			})
		}
	}
}
