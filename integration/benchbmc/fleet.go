package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
)

const (
	username = "bench"
	password = "bench-password"
	// post is a host's POST; a vendor's takes minutes, which is no work of the driver.
	post = 2 * time.Second
)

// vendors are the presets with measured latencies.
func vendors() []string {
	return []string{"SlowDell", "SlowHPE", "SlowLenovo", "SlowSupermicro", "SlowDGX", "SlowGB200", "SlowGH200", "SlowBlueField"}
}

// server is one simulated BMC, as the fleet's process prints it.
type server struct {
	Vendor      string `json:"vendor"`
	Address     string `json:"address"`
	Fingerprint string `json:"fingerprint"`
	System      string `json:"system"`
}

func (s server) target() bmc.Target {
	return bmc.Target{
		Server: s.Address, Address: s.Address, SystemURI: s.System, Fingerprint: s.Fingerprint,
		Credentials: bmc.Credentials{Username: username, Password: password},
	}
}

// isSpoilt says which servers of a fleet "bad" spoils: the first answers a byte
// per second, the last hangs.
func isSpoilt(i, size int) bool { return i == 0 || i == size-1 }

// serveFleet is the simulator's process: it prints its servers on a line, and
// then spoils two of them at "bad" and mends them at "good", until in ends.
func serveFleet(in io.Reader, out io.Writer, size, faster int) error {
	var drip atomic.Bool // the first answers a byte per second
	var all []*sim.BMC
	var servers []server
	defer func() {
		for _, b := range all {
			_ = b.Close()
		}
	}()
	for i, name := range vendors() {
		p, ok := sim.Preset(name)
		if !ok {
			return fmt.Errorf("there is no preset %s", name)
		}
		n := size / len(vendors())
		if i < size%len(vendors()) {
			n++
		}
		if n == 0 {
			continue
		}
		fleet, err := sim.NewFleet(sim.FleetConfig{
			Size: n, Personality: p.Faster(faster), Username: username, Password: password, Seed: uint64(i) << 32,
			Machine: func(int) hardware.Machine {
				m := hardware.NewSimulated(hardware.SimulatedConfig{Post: post / time.Duration(faster)})
				m.Disk().Install("sha256:bench")
				return m
			},
			Listen: func(n int) (net.Listener, error) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				return dripListener{l, &drip, i == 0 && n == 0}, err
			},
		})
		if err != nil {
			return err
		}
		for _, b := range fleet.BMCs() {
			all = append(all, b)
			servers = append(servers, server{name, b.Address(), b.Fingerprint(), b.Hosts()[0].URI()})
		}
	}
	if err := json.NewEncoder(out).Encode(servers); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		bad, reach := lines.Text() == "bad", sim.ReachOK
		if bad {
			reach = sim.ReachHangs
		}
		drip.Store(bad)
		if err := all[len(all)-1].SetReach(reach); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "done"); err != nil {
			return err
		}
	}
	return lines.Err()
}

// dripListener is the listener of a BMC that answers a byte per second on demand.
type dripListener struct {
	net.Listener
	on  *atomic.Bool
	bad bool
}

func (l dripListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil || !l.bad {
		return c, err
	}
	return dripConn{c, l.on}, nil
}

type dripConn struct {
	net.Conn
	on *atomic.Bool
}

func (c dripConn) Write(b []byte) (int, error) {
	for n := range b {
		if !c.on.Load() {
			m, err := c.Conn.Write(b[n:])
			return n + m, err
		}
		if _, err := c.Conn.Write(b[n : n+1]); err != nil {
			return n, err
		}
		time.Sleep(time.Second)
	}
	return len(b), nil
}

// fleetProcess is the simulator's process as its parent has it.
type fleetProcess struct {
	servers []server
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startFleet starts this program once more, as the simulator. It ends with ctx,
// with end, or with this process.
func startFleet(ctx context.Context, p plan) (*fleetProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, fleetArg, "-bmcs", strconv.Itoa(p.bmcs), "-faster", strconv.Itoa(p.faster))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &fleetProcess{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := f.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &f.servers)
	}
	if err == nil && len(f.servers) != p.bmcs {
		err = errors.New("the fleet has another size")
	}
	if err != nil {
		f.end()
		return nil, fmt.Errorf("start the simulated BMCs: %w", err)
	}
	return f, nil
}

// tell gives an order and waits until it is done.
func (f *fleetProcess) tell(order string) error {
	if _, err := fmt.Fprintln(f.in, order); err != nil {
		return err
	}
	_, err := f.out.ReadString('\n')
	return err
}

func (f *fleetProcess) end() {
	_ = f.in.Close()
	_ = f.cmd.Wait()
}
