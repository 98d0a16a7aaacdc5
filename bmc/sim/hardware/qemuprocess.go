package hardware

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
)

// start runs QEMU for a boot from a target, which connects to a socket that is opened here first, so
// that nothing polls for it.
func (m *QEMU) start(board Board, target protocol.BootTarget, cds []string) (*process, error) {
	const op = "machine.power_on"
	c := m.config
	_ = os.Remove(c.socket())
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.socket(), Net: "unix"})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "open control socket: %w", err).
			WithHint("the path of the machine's folder must be shorter than 100 characters")
	}
	defer listener.Close()

	ctx, cancel := context.WithCancel(context.Background())
	p := &process{ctx: ctx, cancel: cancel, board: board, gone: make(chan struct{}), off: make(chan struct{}), target: target, cds: len(cds)}
	var said bytes.Buffer
	p.cmd = exec.Command(qemuBinary, c.args(target, cds)...)
	p.cmd.Stderr = &said
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "start %s: %w", qemuBinary, err).
			WithHint("install QEMU (Debian package qemu-system-x86)")
	}
	m.tasks.Go(func() {
		_ = p.cmd.Wait()
		_ = listener.Close() // ends Accept if QEMU never came so far
		close(p.gone)
	})
	_ = listener.SetDeadline(time.Now().Add(qmpTimeout))
	conn, err := listener.Accept()
	if err == nil {
		p.qmp, err = newQMP(conn, &m.tasks)
	}
	if err != nil {
		cancel()
		_ = p.cmd.Process.Kill()
		<-p.gone
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "QEMU does not start: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return p, nil
}

// insert fetches the images in the drives into files, as a BMC hands them to its host:
// QEMU has them from the power-on to its end.
func (m *QEMU) insert(drives []*Medium) (files []string, err error) {
	for n, d := range drives {
		name := filepath.Join(m.config.Dir, "cd"+strconv.Itoa(n)+".iso")
		if err := d.copyTo(name); err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, "machine.power_on", "read the image of drive %d: %w", n, err)
		}
		files = append(files, name)
	}
	return files, nil
}

// stop ends the process and returns when it is gone.
func (p *process) stop() {
	_ = p.qmp.execute("quit", nil) // QEMU may go before it answers
	t := time.NewTimer(quitTimeout)
	defer t.Stop()
	select {
	case <-p.gone:
	case <-t.C:
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

func (p *process) expressed() protocol.BootTarget {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

func (p *process) guestResets() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resets
}

// guestReset counts one and returns its number. What is on the console so far is of the
// boot before.
func (p *process) guestReset(console string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resets++
	if info, err := os.Stat(console); err == nil {
		p.logged = info.Size()
	}
	return p.resets
}

// consoleAt is where the console of the present boot begins.
func (p *process) consoleAt() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logged
}

// express changes the bootindexes, which QEMU hands to the firmware at the next
// reset, and resets.
func (m *QEMU) express(p *process, target protocol.BootTarget) error {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	boot := m.config.bootDevices(target, p.cds)
	// Two devices must not have the same index, so the old ones go first.
	for _, set := range []bool{false, true} {
		for _, device := range m.config.devices(p.cds) {
			index := slices.Index(boot, device)
			if (index >= 0) != set {
				continue
			}
			if err := p.qmp.execute("qom-set", map[string]any{
				"path": "/machine/peripheral/" + device, "property": "bootindex", "value": index,
			}); err != nil {
				return err
			}
		}
	}
	return p.qmp.execute("system_reset", nil)
}
