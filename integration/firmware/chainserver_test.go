package firmware

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/bootcert"
	"rackboot/netboot/chain"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

const (
	childChain   = "chain"
	chainAddress = "10.99.0.1"
	// messageLine begins the line with the message of a report.
	messageLine = "message "
)

// chainRack is a rack with one machine, whose boot by a chain is open. Gate, chain and
// servers are those of the agent.
type chainRack struct {
	Chain        protocol.BootChain
	Method       protocol.BootTarget
	Architecture string
	Paths        map[string]string // of files, by digest
	Base         string            // of boot URLs
	// Certificates is a folder; with it the HTTP server speaks TLS.
	Certificates string
	// Texts are files of a boot environment that were rendered, by name, and Named paths of
	// its others. Config is what a loader is told that asks for its configuration.
	Texts, Named map[string]string
	Config       string
	// Stops is that no boot is open, and Chain is that of a stop image, which powers off
	// after a time.
	Stops         bool
	PowerOffAfter time.Duration
	// UserData is the machine's; empty for none.
	UserData string
}

// serveChain is the rack's servers inside a namespace, until it is asked to end. What
// they are asked is printed, a line each.
func serveChain() error {
	var r chainRack
	raw, err := os.ReadFile(os.Getenv(folderVar))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	web := httpboot.Config{Files: r, AddressFiles: r, UserData: r, Evidence: r, Registerer: prometheus.NewRegistry()}
	// The port is the URL's: that loaders keep to it is a part of the test.
	if web.Listen, err = netip.ParseAddrPort(strings.TrimPrefix(strings.TrimPrefix(r.Base, "https://"), "http://")); err != nil {
		return err
	}
	if r.Certificates != "" {
		names, err := bootcert.ParseNames([]string{chainAddress})
		if err != nil {
			return err
		}
		store := bootcert.StoreConfig{Folder: bootcert.Folder(r.Certificates), Names: func() bootcert.Names { return names }}
		if web.Certificates, err = bootcert.OpenStore(store); err != nil {
			return err
		}
	}
	h, err := httpboot.New(web)
	if err != nil {
		return err
	}
	f, err := tftp.New(tftp.Config{Segment: "boot", Interface: "boot0", Files: r, Evidence: r})
	if err != nil {
		return err
	}
	d, err := dhcp.New(dhcp.Config{Segment: "boot", Interface: "boot0", Resolver: r, Leases: r, Evidence: r})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	errs := make(chan error, 3)
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{h.Run, f.Run, d.Run} {
		running.Go(func() {
			errs <- run(ctx)
			stop()
		})
	}
	running.Wait()
	return errors.Join(<-errs, <-errs, <-errs)
}

func (r chainRack) Segment(name string) (resource.SegmentIntent, bool) {
	return resource.SegmentIntent{
		Name: name, Prefix: netip.MustParsePrefix("10.99.0.0/24"), Address: netip.MustParseAddr(chainAddress),
		PoolFrom: netip.MustParseAddr("10.99.0.50"), PoolTo: netip.MustParseAddr("10.99.0.99"),
		BaseURL: r.Base, LeaseTime: time.Hour,
	}, true
}

func (r chainRack) Resolve(c protocol.BootClient) protocol.BootAnswer {
	s := decide.ServeSnapshot{Synced: true, Server: "n1", Architecture: r.Architecture}
	if r.Stops {
		s.Stop = &decide.StopOffer{Token: bootToken, File: r.Chain.FileFor(c.Class)}
	} else {
		s.Attempt = &decide.Attempt{Token: bootToken, Order: decide.Order{Chain: &r.Chain, Target: r.Method}, Stage: decide.Stage{State: resource.AttemptConsumed}}
	}
	a := decide.Serve(s, c)
	fmt.Printf("client %s: %s %s\n", c.Class, a.Action, a.File)
	return a
}

// environment is a file of a boot environment, as the agent looks it up.
func (r chainRack) environment(name string) (text, path string) {
	if config, _ := chain.AsksConfig(name); config && r.Config != "" {
		return r.Config, ""
	}
	return r.Texts[name], r.Named[name]
}

func (r chainRack) Open(_ netip.Addr, token, name string) (*netboot.File, error) {
	if text, path := r.environment(name); token == bootToken && path != "" {
		return openFile(path, name)
	} else if token == bootToken && text != "" {
		return openText(text), nil
	}
	found, ok := chain.Lookup(r.Chain, r.Base, bootToken, name)
	if r.Stops {
		found, _, ok = chain.LookupStop(r.Chain, name, "n1", r.PowerOffAfter)
	}
	if !ok || token != bootToken {
		fmt.Printf("none %s\n", name)
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	}
	if found.Text != "" {
		return openText(found.Text), nil
	}
	return openFile(r.Paths[found.Digest], found.Digest)
}

// OpenUserData implements netboot.UserData.
func (r chainRack) OpenUserData(_ netip.Addr, token string) (*netboot.File, error) {
	if token != bootToken || r.UserData == "" {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open user data", "there is none")
	}
	return openText(r.UserData), nil
}

// Delivered implements netboot.UserData.
func (chainRack) Delivered(string) { fmt.Println("delivered user data") }

func openText(text string) *netboot.File {
	return &netboot.File{ReadSeekCloser: rendered{bytes.NewReader([]byte(text))}, Size: int64(len(text)), ETag: `"1"`}
}

func openFile(path, tag string) (*netboot.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &netboot.File{ReadSeekCloser: f, Size: info.Size(), ETag: fmt.Sprintf("%q", tag), ModTime: info.ModTime()}, nil
}

// OpenFor knows every address: there is one machine.
func (r chainRack) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	f, err := r.Open(remote, bootToken, name)
	if err == nil {
		f.Token = bootToken
	}
	return f, err
}

type rendered struct{ *bytes.Reader }

func (rendered) Close() error { return nil }

func (chainRack) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched {
		fmt.Printf("fetched %s\n", e.File)
	}
}

func (chainRack) Report(_ context.Context, _ netip.Addr, token string, r protocol.ProbeReport) error {
	if token != bootToken {
		return protocol.Errorf(protocol.CodeNotFound, "report", "unknown token")
	}
	if r.Inventory != nil {
		raw, err := json.Marshal(r.Inventory)
		if err != nil {
			return err
		}
		fmt.Printf("%s%s\n", inventoryLine, raw)
	}
	if r.Message != "" {
		fmt.Printf("%s%q\n", messageLine, r.Message)
	}
	fmt.Printf("report %s\n", r.State)
	return nil
}

func (chainRack) Load(string) ([]netboot.Lease, error)        { return nil, nil }
func (chainRack) Put(context.Context, ...netboot.Lease) error { return nil }
func (chainRack) Delete(context.Context, netboot.Lease) error { return nil }
