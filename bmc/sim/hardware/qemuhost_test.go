//go:build host

package hardware

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

const (
	ovmfCode = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	ovmfVars = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

func newTestQEMU(t *testing.T) *QEMU {
	t.Helper()
	dir, err := os.MkdirTemp("", "m") // t.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	disk := filepath.Join(dir, "disk")
	if err := os.WriteFile(disk, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := NewQEMU(QEMUConfig{Dir: dir, Code: ovmfCode, Vars: ovmfVars, Disk: disk, Post: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// QEMU starts, takes the power button and new bootindexes, and is gone after
// PowerOff.
func TestQEMUStartsAndStops(t *testing.T) {
	m := newTestQEMU(t)
	board := &recordingBoard{next: protocol.TargetHdd}
	if err := m.PowerOn(board); err != nil {
		t.Fatal(err)
	}
	if protocol.CodeOf(m.PowerOn(board)) != protocol.CodeConflict {
		t.Error("a second power-on is accepted")
	}
	board.await(t, "consumed Hdd")
	if err := m.Shutdown(); err != nil {
		t.Error(err)
	}
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if err := m.express(p, protocol.TargetNone); err != nil {
		t.Error(err)
	}
	if err := m.PowerOff(); err != nil {
		t.Fatal(err)
	}
	if s := m.State(); s != Off {
		t.Errorf("state is %s", s)
	}
	if p.cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	board.await(t, "off")
	if err := m.PowerOn(board); err != nil {
		t.Fatalf("second power-on: %v", err)
	}
}

// A guest's own reset: the next boot follows the override as it is then.
func TestQEMUGuestReset(t *testing.T) {
	m := newTestQEMU(t)
	board := &recordingBoard{next: protocol.TargetHdd}
	if err := m.PowerOn(board); err != nil {
		t.Fatal(err)
	}
	board.await(t, "consumed Hdd")
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	p.qmp.resets <- resetEvent{Guest: true}
	board.await(t, "consumed None")
	if got := p.expressed(); got != protocol.TargetNone {
		t.Errorf("bootindexes express %s", got)
	}
}

func TestQEMUThatDoesNotStart(t *testing.T) {
	m := newTestQEMU(t)
	m.config.Code = filepath.Join(m.config.Dir, "missing")
	err := m.PowerOn(&recordingBoard{})
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "missing") {
		t.Fatalf("error is %v", err)
	}
	if m.State() != Off {
		t.Errorf("state is %s", m.State())
	}
}
