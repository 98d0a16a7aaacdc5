package firmware_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/firmware"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const token, bootName = "t0ken", "boot.efi"

// How much faster than real the tries are. Of what answers they last as long as an answer
// may take on a machine that has much else to do; what is silent is not waited for.
const (
	speed   = 5
	silence = 100
)

const patience = time.Minute

// rack is the production servers on loopback, and an agent's part of them.
type rack struct {
	t        *testing.T
	dhcp     *net.UDPAddr
	tftp     netip.AddrPort
	base     string
	mu       sync.Mutex
	answer   protocol.BootAnswer
	events   []netboot.Event
	reports  []string
	dir      string
	fileType string
	fetched  chan struct{} // one for each fetched file
}

func newRack(t *testing.T, answer protocol.BootAnswer) *rack {
	t.Helper()
	r := &rack{t: t, answer: answer, dir: t.TempDir(), fileType: "application/efi", fetched: make(chan struct{}, 100)}
	if err := os.WriteFile(filepath.Join(r.dir, bootName), []byte("MZ and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: r, Evidence: r})
	if err != nil {
		t.Fatal(err)
	}
	r.base = "http://" + files.Addr().String()
	server, err := dhcp.New(dhcp.Config{Segment: "rack1", Listen: netip.MustParseAddrPort("127.0.0.1:0"), Resolver: r, Leases: r, Evidence: r})
	if err != nil {
		t.Fatal(err)
	}
	r.dhcp = server.Addr().(*net.UDPAddr)
	loader, err := tftp.New(tftp.Config{Segment: "rack1", Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: r, Evidence: r})
	if err != nil {
		t.Fatal(err)
	}
	r.tftp = loader.Addr().(*net.UDPAddr).AddrPort()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{files.Run, server.Run, loader.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		goleak.VerifyNone(t)
	})
	return r
}

// machine is a client of the rack.
func (r *rack) machine() *firmware.Client {
	return &firmware.Client{MAC: net.HardwareAddr{0x52, 0x54, 0, 1, 2, 3}, UUID: [16]byte{1}, Server: r.dhcp, TFTP: r.tftp, Speed: speed, HTTPTimeout: patience}
}

func (r *rack) Segment(string) (resource.SegmentIntent, bool) {
	return resource.SegmentIntent{
		Name: "rack1", Prefix: netip.MustParsePrefix("10.99.0.0/24"), Address: netip.MustParseAddr("10.99.0.1"),
		PoolFrom: netip.MustParseAddr("10.99.0.50"), PoolTo: netip.MustParseAddr("10.99.0.99"), BaseURL: r.base,
	}, true
}

func (r *rack) Resolve(protocol.BootClient) protocol.BootAnswer { return r.answer }

func (r *rack) Load(string) ([]netboot.Lease, error)        { return nil, nil }
func (r *rack) Put(context.Context, ...netboot.Lease) error { return nil }
func (r *rack) Delete(context.Context, netboot.Lease) error { return nil }
func (r *rack) Report(_ context.Context, _ netip.Addr, tok string, rep protocol.ProbeReport) error {
	if tok != token {
		return protocol.Errorf(protocol.CodeNotFound, "report", "unknown")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, string(rep.State))
	return nil
}

func (r *rack) Record(e netboot.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if e.Kind == protocol.EvidenceFetched {
		r.fetched <- struct{}{}
	}
}

func (r *rack) kinds() []protocol.EvidenceKind {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []protocol.EvidenceKind
	for _, e := range r.events {
		out = append(out, e.Kind)
	}
	return slices.Compact(out)
}

func (r *rack) Open(_ netip.Addr, tok, name string) (*netboot.File, error) {
	f, err := os.Open(filepath.Join(r.dir, filepath.Base(name)))
	if err != nil || tok != token {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &netboot.File{ReadSeekCloser: f, Size: st.Size(), ContentType: r.fileType, ETag: `"1"`, ModTime: st.ModTime()}, nil
}

func (r *rack) OpenFor(_ netip.Addr, name string) (*netboot.File, error) {
	return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no file %s", name)
}

func (r *rack) write(name string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte("MZ"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}
