package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
)

func child(what string) error {
	var j job
	if err := json.Unmarshal([]byte(what), &j); err != nil {
		return err
	}
	switch j.What {
	case fetchHTTP:
		return tell(j.fetchHTTP())
	case fetchTFTP:
		return tell(j.fetchTFTP())
	case stormTFTP:
		return tell(j.fetchTFTPStorm())
	case stormHTTP:
		return tell(j.stormHTTP())
	case stormDHCP:
		return tell(j.stormDHCP())
	case packages:
		return tell(j.packagesHTTP())
	case shakes:
		return tell(j.handshakes())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch j.What {
	case serveDHCP:
		return j.serveDHCP(ctx)
	case serveHTTP:
		files, err := openFolder(j.Dir)
		if err != nil {
			return err
		}
		cfg := httpboot.Config{
			Listen: netip.MustParseAddrPort(serverAddress + ":80"), Files: files, Evidence: nobody{},
			MaxClientConns: 1024, MaxClientRequests: 1024, // the bench has one address for all
		}
		if j.TLS {
			if cfg.Certificates, err = readPair(j.Dir); err != nil {
				return err
			}
			cfg.Listen = netip.MustParseAddrPort(serverAddress + ":443")
		}
		s, err := httpboot.New(cfg)
		if err != nil {
			return err
		}
		return s.Run(ctx)
	case serveTFTP:
		s, err := tftp.New(tftp.Config{
			Segment: "bench", Interface: serverDevice, Files: folder{dir: j.Dir}, Evidence: nobody{},
			Limits: tftp.Limits{PerClient: 1 << 20, Rate: 1 << 20, Burst: 1 << 20}, // the bench has one address for all
		})
		if err != nil {
			return err
		}
		return s.Run(ctx)
	}
	return fmt.Errorf("no child %q", j.What)
}

// serveDHCP has its leases in the agent's store, which syncs each before its ACK.
func (j job) serveDHCP(ctx context.Context) error {
	db, err := badger.Open(badger.Config{Dir: filepath.Join(j.Dir, "state")})
	if err != nil {
		return err
	}
	defer db.Close()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "bench" }})
	if err != nil {
		return err
	}
	s, err := dhcp.New(dhcp.Config{
		Segment: "bench", Interface: serverDevice, Resolver: newMachines(j.Machines), Leases: st.Leases4, Evidence: nobody{},
	})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// machines is a resolver of so many machines.
type machines struct {
	segment resource.SegmentIntent
	known   map[string]string
}

// firstMAC is the first one of perfdhcp, which counts the rest up.
func firstMAC() net.HardwareAddr { return net.HardwareAddr{0x00, 0x0c, 0x01, 0x02, 0x03, 0x04} }

func newMachines(n int) *machines {
	m := &machines{segment: resource.SegmentIntent{
		Name: "bench", Prefix: netip.MustParsePrefix(prefix), Address: netip.MustParseAddr(serverAddress),
		PoolFrom: netip.MustParseAddr(poolFrom), PoolTo: netip.MustParseAddr(poolTo), LeaseTime: time.Hour,
	}}
	if n == 0 {
		return m
	}
	m.known = make(map[string]string, n)
	for mac := firstMAC(); n > 0; n-- {
		m.known[mac.String()] = fmt.Sprintf("server-%d", n)
		for i := len(mac) - 1; i >= 0; i-- {
			if mac[i]++; mac[i] != 0 {
				break
			}
		}
	}
	return m
}

func (m *machines) Segment(string) (resource.SegmentIntent, bool) { return m.segment, true }

func (m *machines) Resolve(c protocol.BootClient) protocol.BootAnswer {
	server, ok := m.known[c.MAC]
	switch {
	case m.known == nil:
		server = c.MAC
	case !ok:
		return protocol.BootAnswer{Action: protocol.AnswerSilence, Reason: "unknown"}
	}
	return protocol.BootAnswer{Action: protocol.AnswerLease, Server: server, Reason: "bench"}
}

// nobody takes evidence.
type nobody struct{}

func (nobody) Record(netboot.Event) {}
