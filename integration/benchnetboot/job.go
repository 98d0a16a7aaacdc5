package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"time"
)

// childVar is set for a process that is a server or a client: what it does, as JSON.
const childVar = "RACKBOOT_BENCH_NETBOOT"

// What a child is.
const (
	serveDHCP = "dhcp"
	serveHTTP = "http"
	serveTFTP = "tftp"
	fetchHTTP = "fetch-http"
	fetchTFTP = "fetch-tftp"
	stormTFTP = "storm-tftp"
	stormHTTP = "storm-http"
	stormDHCP = "storm-dhcp"
	packages  = "packages"
	shakes    = "handshakes"

	fileName = "boot.efi"
	// smallName is a file that an installer fetches thousands of.
	smallName = "small.deb"
	smallSize = 4 << 10
)

// job is what a child does. Dir has its files.
type job struct {
	What string
	Dir  string
	// Machines are those that the DHCP server knows; all if zero.
	Machines int
	TLS      bool
	Clients  int
	Size     int64
	Window   int
	// Period is how long clients ask that count what they get.
	Period time.Duration
	// Delay is how long a TFTP client takes to acknowledge.
	Delay time.Duration
}

// self is this program as a child.
func self(what job) (*exec.Cmd, error) {
	raw, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path) //nolint:noctx // it is ended by its contestant
	cmd.Env = append(os.Environ(), childVar+"="+string(raw))
	return cmd, nil
}
