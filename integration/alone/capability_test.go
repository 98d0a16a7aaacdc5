//go:build host

package alone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rackboot/protocol/resource"
)

// Capabilities (linux/capability.h).
const (
	capBindService uintptr = 10
	capRaw         uintptr = 13
)

// nobody is a user without rights.
const nobody = 65534

// noFrames is what the agent says once where it has no raw sockets.
const noFrames = "no raw sockets: replies to clients without an address are broadcast"

// TestCapabilities: as a user without rights and with the two capabilities of its
// systemd unit, the agent answers DHCP, HTTP and TFTP on their own ports. Without
// CAP_NET_RAW it does too, by broadcasts, and says so; without
// CAP_NET_BIND_SERVICE it does not start and says what is missing.
func TestCapabilities(t *testing.T) {
	unit := unitCapabilities(t)
	sum := sha256.Sum256(bootFile())
	want := hex.EncodeToString(sum[:])
	for _, tt := range []struct {
		name   string
		caps   []uintptr
		boot   resource.FirstBoot
		frames bool
	}{
		{"of the unit, DHCP and HTTP", unit, resource.FirstBootUefiHTTP, true},
		{"of the unit, DHCP and TFTP", unit, resource.FirstBootPxe, true},
		{"without NET_RAW, DHCP and HTTP", []uintptr{capBindService}, resource.FirstBootUefiHTTP, false},
		{"without NET_RAW, DHCP and TFTP", []uintptr{capBindService}, resource.FirstBootPxe, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
			defer cancel()
			n := newNetwork(ctx, t)
			ref := hear[string](start(t, n.world, childRegistry, nil))
			machine := start(t, n.machine, childMachine, nil)
			config := rackConfig{
				Dir: ownDir(t), BMC: hear[machineAt](machine), Image: ref, Boot: tt.boot,
				PoolFrom: netip.MustParseAddr("10.7.0.101"), PoolTo: netip.MustParseAddr("10.7.0.101"),
			}
			agent := start(t, n.rack, childAgent, config, unprivileged(t, tt.caps))
			hear[string](agent)
			if err := has(agent.cmd.Process.Pid, tt.caps); err != nil {
				t.Error(err)
			}
			hear[string](machine)
			machine.say("go")
			if got := hear[booted](machine); got.Err != "" || got.SHA256 != want {
				t.Errorf("booted %+v, want %s", got, want)
			}
			agent.stop()
			if said := agent.errs.String(); strings.Contains(said, noFrames) == tt.frames {
				t.Errorf("the agent said %q", said)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		raw, err := json.Marshal(rackConfig{Dir: ownDir(t)})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), childVar+"="+childAgent, configVar+"="+string(raw))
		var said strings.Builder
		cmd.Stderr, cmd.SysProcAttr = &said, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		unprivileged(t, nil)(cmd)
		if err := newNetwork(ctx, t).rack.Start(cmd); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(said.String(), "permission denied") {
			t.Errorf("ended with %v: %s", err, said.String())
		}
	})
}

// unitCapabilities are those of the agent's systemd unit, which must have no others.
func unitCapabilities(t *testing.T) (caps []uintptr) {
	t.Helper()
	raw, err := os.ReadFile("../../configs/systemd/rackboot-agent.service")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]uintptr{"CAP_NET_BIND_SERVICE": capBindService, "CAP_NET_RAW": capRaw}
	var sets [][]string
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && (key == "AmbientCapabilities" || key == "CapabilityBoundingSet") {
			sets = append(sets, strings.Fields(value))
		}
	}
	if len(sets) != 2 || !slices.Equal(sets[0], sets[1]) {
		t.Fatalf("the unit has %v", sets)
	}
	for _, name := range sets[0] {
		c, ok := known[name]
		if !ok {
			t.Fatalf("nobody has tried what %s is needed for", name)
		}
		caps = append(caps, c)
	}
	return caps
}

// unprivileged has a command run as nobody, from a copy that nobody can read: go test
// builds in a folder of its own user.
func unprivileged(t *testing.T, caps []uintptr) func(*exec.Cmd) {
	t.Helper()
	path := filepath.Join(ownDir(t), "agent")
	if err := copyFile(os.Args[0], path); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = path, []string{path}
		cmd.Dir = "/"
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		cmd.SysProcAttr.AmbientCaps = caps
	}
}

// copyFile copies a program. Nobody forks meanwhile: a child would hold the file open for
// writing until its own exec, and the program could not be started (ETXTBSY).
func copyFile(from, to string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// ownDir is a folder of nobody.
func ownDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rackboot-alone-") // that of the test is in one of its user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	return dir
}

// has says whether a process is nobody's and has these capabilities, and no others.
func has(pid int, caps []uintptr) error {
	var want uint64
	for _, c := range caps {
		want |= 1 << c
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	for _, line := range []string{fmt.Sprintf("Uid:\t%d\t%[1]d\t%[1]d\t%[1]d", nobody), fmt.Sprintf("CapEff:\t%016x", want), fmt.Sprintf("CapPrm:\t%016x", want)} {
		if !strings.Contains(string(raw), "\n"+line+"\n") {
			err = errors.Join(err, fmt.Errorf("the process has no %q", line))
		}
	}
	return err
}
