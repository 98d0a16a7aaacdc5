package rig

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

// networkEnv marks a process that has a network of its own.
const networkEnv = "RACKBOOT_STORM_NETWORK"

// filter drops packets of a network of this process's own. What is cut is silent for the kernels too, as behind a
// cable that is out: a proxy that does not read still acknowledges, so that nobody's TCP notices.
type filter struct{ nft string }

// newFilter makes the filter; nil where the network is not this process's own.
func newFilter() (*filter, error) {
	if os.Getenv(networkEnv) == "" {
		return nil, nil
	}
	ip, err := program("ip")
	if err != nil {
		return nil, err
	}
	if out, err := exec.Command(ip, "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ip link set lo up: %w: %s", err, out)
	}
	f := &filter{}
	if f.nft, err = program("nft"); err != nil {
		return nil, err
	}
	return f, f.run(`table inet storm {
	set to { type inet_service; }
	set from { type inet_service; }
	chain in {
		type filter hook input priority 0;
		tcp dport @to drop
		tcp sport @from drop
	}
}`)
}

// program finds a program of administrators, whose folders are not in everybody's path.
func program(name string) (string, error) {
	for _, p := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
		if path, err := exec.LookPath(p); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed; run integration/packages as root", name)
}

func (f *filter) run(text string) error {
	cmd := exec.Command(f.nft, "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, out)
	}
	return nil
}

// sets are those of packets to, and from, a listener that are dropped while a way of its wire is cut.
func sets(way Way) []string {
	return map[Way][]string{Out: {"to"}, Back: {"from"}, Both: {"to", "from"}}[way]
}

// cut drops what goes one way, or both, between a listener and whoever dials it.
func (f *filter) cut(at net.Listener, way Way) error { return f.each("add", at, way) }

// mend drops nothing of it any more.
func (f *filter) mend(at net.Listener) error {
	// An element that is added twice is there once; one that is not there cannot be removed.
	return errors.Join(f.each("add", at, Both), f.each("delete", at, Both))
}

func (f *filter) each(do string, at net.Listener, way Way) (err error) {
	_, port, err := net.SplitHostPort(at.Addr().String())
	if err != nil {
		return err
	}
	for _, set := range sets(way) {
		err = errors.Join(err, f.run(fmt.Sprintf("%s element inet storm %s { %s }", do, set, port)))
	}
	return err
}
