package hardware

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/protocol"
)

const (
	qemuBinary = "qemu-system-x86_64"
	// qmpTimeout bounds the start of QEMU and every QMP command.
	qmpTimeout = 10 * time.Second
	// quitTimeout is how long QEMU may take to quit before it is killed.
	quitTimeout = 2 * time.Second
	// consolePause is between two looks at the console.
	consolePause = 500 * time.Millisecond
	consoleLooks = 600
)

// QEMUConfig configures a machine that runs in QEMU with OVMF.
type QEMUConfig struct {
	Dir  string // the machine's own folder for NVRAM, socket and serial log; its path must be short (sun_path)
	Code string // OVMF_CODE_4M.fd, read only
	Vars string // OVMF_VARS_4M.fd, copied into Dir once
	Disk string // raw disk image; empty for none
	Tap  string // network interface that exists already; empty for no network
	MAC  string
	UUID string
	// SecureBoot is a machine for firmware that verifies what it boots: with system management
	// mode, without which such firmware does not start, and Vars that only firmware writes.
	SecureBoot bool
	// Authorities is a file with an EFI signature list of whom firmware trusts for HTTPS boot;
	// empty for nobody.
	Authorities string
	// MemoryMiB is how much memory it has; 0 is 512.
	MemoryMiB int
	// Post is how long after power-on or reset the override counts as consumed.
	// OVMF reads it at once.
	Post   time.Duration
	Logger *slog.Logger // nil for none
}

// QEMU is a machine that runs in a child process per power-on. The guest's own
// shutdown ends the process, and only then is the machine off. Its best states are
// MachineBooting, and MachineShell where the EFI shell has said so on the console: it
// does not look into the guest.
//
// The override is expressed as the bootindex of the only device that may boot.
// OVMF takes all others off its boot order but the EFI shell, which is last;
// without an override the index goes to a blank device, so that the shell is
// where the machine stops, and never the disk.
type QEMU struct {
	config QEMUConfig

	mu      sync.Mutex
	state   State
	process *process // nil while off
	closed  bool
	// starting is while the images of the drives are read; cut power ends it.
	starting bool
	tasks    sync.WaitGroup
}

// process is one power-on.
type process struct {
	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	cmd    *exec.Cmd
	qmp    *qmp
	board  Board
	cds    int           // drives with an image
	gone   chan struct{} // closed when the process has been waited for
	off    chan struct{} // closed when the machine is off for everybody

	mu     sync.Mutex
	target protocol.BootTarget // what the bootindexes express
	resets int                 // of the guest
	logged int64               // length of the console at the last of them, bytes
}

var _ Machine = (*QEMU)(nil)

// NewQEMU makes a machine that is off, and its folder and NVRAM. It fails with
// unavailable if they cannot be made.
func NewQEMU(config QEMUConfig) (*QEMU, error) {
	const op = "machine.new"
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "make folder: %w", err)
	}
	if _, err := os.Stat(config.vars()); err == nil {
		return &QEMU{config: config, state: Off}, nil
	}
	if err := copyFile(config.vars(), config.Vars); err != nil {
		_ = os.Remove(config.vars())
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "copy NVRAM: %w", err).
			WithHint("install OVMF (Debian package ovmf) and give the path of OVMF_VARS_4M.fd")
	}
	return &QEMU{config: config, state: Off}, nil
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// SerialLog is the file that gets the serial console of the present power-on.
func (m *QEMU) SerialLog() string { return filepath.Join(m.config.Dir, "serial.log") }

// State is the state now.
func (m *QEMU) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// PowerOn starts QEMU and returns when its control socket answers. It fails
// with unavailable, with what QEMU said, if it does not start.
func (m *QEMU) PowerOn(board Board) error {
	const op = "machine.power_on"
	m.mu.Lock()
	if m.closed || m.process != nil || m.starting {
		m.mu.Unlock()
		return protocol.Errorf(protocol.CodeConflict, op, "power is on, or the machine is gone")
	}
	m.starting = true
	m.mu.Unlock()
	cds, err := m.insert(board.Drives())
	target := board.NextBoot()
	m.mu.Lock()
	if !m.starting && err == nil {
		err = protocol.Errorf(protocol.CodeConflict, op, "power was cut")
	}
	m.starting = false
	if err != nil {
		m.mu.Unlock()
		return err
	}
	p, err := m.start(board, target, cds)
	if err == nil {
		m.process, m.state = p, Post
		m.tasks.Go(func() { m.events(p) })
		m.tasks.Go(func() { m.post(p, 0) })
		m.tasks.Go(func() { m.wait(p) })
	}
	m.mu.Unlock()
	if err == nil {
		board.MachineChanged(Post)
	}
	return err
}

// wait is over when the process is gone: only then is the machine off.
func (m *QEMU) wait(p *process) {
	<-p.gone
	p.cancel()
	p.qmp.close()
	m.mu.Lock()
	m.process, m.state = nil, Off
	m.mu.Unlock()
	p.board.MachineChanged(Off)
	close(p.off)
}

// post ends POST: firmware has picked its device. A reset before that begins
// another POST, and this one is void.
func (m *QEMU) post(p *process, reset int) {
	if !delay.Pause(p.ctx, m.config.Post) || p.guestResets() != reset {
		return
	}
	p.board.BootConsumed(p.expressed())
	m.advance(p, Booting)
	m.shell(p, reset)
}

// shellSays is what the EFI shell prints first.
const shellSays = "UEFI Interactive Shell"

// shell waits for the EFI shell on the console for a while, until the guest is reset or
// off.
func (m *QEMU) shell(p *process, reset int) {
	before := p.consoleAt()
	for range consoleLooks {
		if !delay.Pause(p.ctx, consolePause) || p.guestResets() != reset {
			return
		}
		raw, err := os.ReadFile(m.SerialLog())
		if err == nil && int64(len(raw)) > before && bytes.Contains(raw[before:], []byte(shellSays)) {
			m.advance(p, Shell)
			return
		}
	}
}

// events follows the guest's resets. The bootindexes are still those of the
// start, and the override for once is used up: if the next boot is another,
// the indexes are changed and the machine is reset once more, before its
// firmware has got anywhere.
func (m *QEMU) events(p *process) {
	for e := range p.qmp.resets {
		if !e.Guest {
			continue
		}
		reset := p.guestReset(m.SerialLog())
		m.advance(p, Post)
		if next := p.board.NextBoot(); next != p.expressed() {
			if err := m.express(p, next); err != nil {
				m.config.Logger.Warn("boot order of the simulated machine not changed", "err", err)
			}
		}
		m.tasks.Go(func() { m.post(p, reset) })
	}
}

func (m *QEMU) advance(p *process, state State) {
	m.mu.Lock()
	ok := m.process == p
	if ok {
		m.state = state
	}
	m.mu.Unlock()
	if ok {
		p.board.MachineChanged(state)
	}
}

// Shutdown presses the ACPI power button.
func (m *QEMU) Shutdown() error {
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.qmp.execute("system_powerdown", nil)
}

// PowerOff ends the process and waits until it is gone.
func (m *QEMU) PowerOff() error {
	m.mu.Lock()
	p := m.process
	m.starting = false
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	p.stop()
	<-p.off
	return nil
}

// Close ends the process and all that follows it. NVRAM, log and disk stay.
func (m *QEMU) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	err := m.PowerOff()
	m.tasks.Wait()
	return err
}
