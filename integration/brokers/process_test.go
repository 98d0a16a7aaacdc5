package brokers

import (
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/sim"
)

// server is a process of a broker or a registry that can be killed and started again.
type server struct {
	t       *testing.T
	name    string
	dir     string
	addr    string // where it listens, a broker for MQTT
	program string
	args    []string
	tls     *tls.Config // of a client that it lets in
	cmd     *exec.Cmd
	ended   chan struct{}
}

// start starts the process; it dies with the test program.
func (s *server) start() {
	s.t.Helper()
	out, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	s.cmd, s.ended = exec.Command(s.program, s.args...), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start %s: %v", s.name, err)
	}
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // it is killed
		close(ended)
	}(s.cmd, s.ended)
}

// kill ends the process as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended already
	<-s.ended
}

func (s *server) log() string { return filepath.Join(s.dir, s.name+".log") }

// listens waits until the listener takes connections.
func (s *server) listens() {
	s.t.Helper()
	for deadline := time.Now().Add(waitAtMost); ; time.Sleep(20 * time.Millisecond) {
		conn, err := tls.Dial("tcp", s.addr, s.tls)
		if err == nil {
			_ = conn.Close() // it was opened to see whether it can be
			return
		}
		select {
		case <-s.ended:
			s.said("ended")
		default:
		}
		if time.Now().After(deadline) {
			s.said("does not listen: " + err.Error())
		}
	}
}

func (s *server) said(what string) {
	s.t.Helper()
	said, _ := os.ReadFile(s.log()) // only to say more
	s.t.Fatalf("%s %s\n%s", s.name, what, said)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	addrs, err := sim.FreeAddresses("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	return addrs[0].String()
}
