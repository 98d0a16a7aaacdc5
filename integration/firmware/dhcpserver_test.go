package firmware

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
)

const childDHCP = "dhcp"

// Files in the folder of a DHCP server.
const (
	dhcpConfigFile = "config.json"
	dhcpLeasesFile = "leases.json"
	dhcpStateDir   = "state"
)

// dhcpConfig is what a DHCP server of a test is told.
type dhcpConfig struct {
	Interface string
	Segment   resource.SegmentIntent
}

// serveDHCP is a server inside a namespace, with its leases on disk, until it is
// asked to end. It prints what it sees, one JSON object per line.
func serveDHCP() (err error) {
	dir := os.Getenv(folderVar)
	raw, err := os.ReadFile(filepath.Join(dir, dhcpConfigFile))
	if err != nil {
		return err
	}
	var cfg dhcpConfig
	if err := json.Unmarshal(raw, &cfg); err != nil {
		return err
	}
	db, err := badger.Open(badger.Config{Dir: filepath.Join(dir, dhcpStateDir)})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "dhcp-test" }})
	if err != nil {
		return err
	}
	seen := &observer{out: json.NewEncoder(os.Stdout)}
	s, err := dhcp.New(dhcp.Config{
		Segment: cfg.Segment.Name, Interface: cfg.Interface, Resolver: everybody{cfg.Segment},
		Leases:   &openLeases{Leases: st.Leases4, segment: cfg.Segment.Name, dir: dir},
		Evidence: seen, Notify: seen.notice,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}
	return s.Run(ctx)
}

// everybody is a resolver that knows every client as a machine that is to have an
// address, and nothing to boot.
type everybody struct{ segment resource.SegmentIntent }

func (e everybody) Segment(string) (resource.SegmentIntent, bool) { return e.segment, true }

func (e everybody) Resolve(c protocol.BootClient) protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerLease, Server: "server " + c.MAC, Reason: "test"}
}

// openLeases is the agent's lease store. After each change, and before the client is
// told, a file has what is in the store: the store itself is locked while it is open.
type openLeases struct {
	*store.Leases[netboot.Lease]
	segment, dir string
	mu           sync.Mutex
}

func (o *openLeases) Put(ctx context.Context, leases ...netboot.Lease) error {
	if err := o.Leases.Put(ctx, leases...); err != nil {
		return err
	}
	return o.publish()
}

func (o *openLeases) Delete(ctx context.Context, l netboot.Lease) error {
	if err := o.Leases.Delete(ctx, l); err != nil {
		return err
	}
	return o.publish()
}

func (o *openLeases) publish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	leases, err := o.Load(o.segment)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(leases)
	if err != nil {
		return err
	}
	name := filepath.Join(o.dir, dhcpLeasesFile)
	if err := os.WriteFile(name+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// observer prints events and notices.
type observer struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (p *observer) Record(e netboot.Event) { p.print(e) }

func (p *observer) notice(n netboot.Notice) { p.print(n) }

func (p *observer) print(v any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(v) // the test misses it then
}
