package tpm

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"
)

// waitAtMost bounds every wait for a process.
const waitAtMost = 30 * time.Second

// chip is a TPM of swtpm: a process with a folder of its own, made by an authority of its own.
type chip struct {
	transport.TPM
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	conn net.Conn
}

// manufacture makes a TPM with a certificate for its endorsement key, and starts it.
func manufacture(t *testing.T) *chip {
	t.Helper()
	c := &chip{t: t, dir: provision(t)}
	c.start()
	return c
}

// provision makes a TPM's folder: its state, and the authority that made its certificate.
func provision(t *testing.T) (dir string) {
	t.Helper()
	program(t, "swtpm", "swtpm")
	setup, authority := program(t, "swtpm", "swtpm_setup"), program(t, "swtpm", "swtpm_localca")
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"ca.conf":    fmt.Sprintf("statedir = %s\nsigningkey = %s\nissuercert = %s\ncertserial = %s\n", at("ca"), at("ca/signkey.pem"), at("ca/issuercert.pem"), at("ca/certserial")),
		"ca.options": "--platform-manufacturer Rackboot\n--platform-version 1\n--platform-model test\n",
		"setup.conf": fmt.Sprintf("create_certs_tool = %s\ncreate_certs_tool_config = %s\ncreate_certs_tool_options = %s\nactive_pcr_banks = sha256\n", authority, at("ca.conf"), at("ca.options")),
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"ca", "state"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), setup, "--tpm2", "--config", at("setup.conf"), "--tpmstate", at("state"), "--create-ek-cert", "--overwrite")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("swtpm_setup: %v\n%s", err, out)
	}
	return dir
}

// start gives the TPM power.
func (c *chip) start() {
	c.t.Helper()
	socket := filepath.Join(c.dir, "socket")
	_ = os.Remove(socket) // of the last start
	c.cmd = exec.Command("swtpm", "socket", "--tpm2", "--tpmstate", "dir="+filepath.Join(c.dir, "state"),
		"--server", "type=unixio,path="+socket, "--flags", "not-need-init,startup-clear")
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	cmd := c.cmd
	c.t.Cleanup(func() { stop(cmd) })
	for deadline := time.Now().Add(waitAtMost); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			c.t.Cleanup(func() { _ = conn.Close() }) // the process has ended
			if err := conn.SetDeadline(time.Now().Add(10 * waitAtMost)); err != nil {
				c.t.Fatal(err)
			}
			c.conn, c.TPM = conn, transport.FromReadWriter(conn)
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("swtpm does not listen: %v", err)
		}
	}
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // it was killed
}

// restart takes the power away and gives it back, as a machine that is switched off and on.
func (c *chip) restart() {
	c.t.Helper()
	if _, err := (tpm2.Shutdown{ShutdownType: tpm2.TPMSUClear}).Execute(c); err != nil {
		c.t.Fatal(err)
	}
	stop(c.cmd)
	c.start()
}

// authorities are those that made the TPM's certificate.
func (c *chip) authorities() (root, issuer *x509.Certificate) {
	c.t.Helper()
	read := func(name string) *x509.Certificate {
		raw, err := os.ReadFile(filepath.Join(c.dir, "ca", name))
		if err != nil {
			c.t.Fatal(err)
		}
		block, _ := pem.Decode(raw)
		if block == nil {
			c.t.Fatalf("%s is no PEM", name)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			c.t.Fatal(err)
		}
		return cert
	}
	return read("swtpm-localca-rootca-cert.pem"), read("issuercert.pem")
}
