// Command witness is the init of the machines that integration/tpm boots. It has the TPM quote what
// was measured, writes the quote and the event log to the second serial port, and powers off.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport/linuxtpm"
	"golang.org/x/sys/unix"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/seal"
)

// Files of the machine.
const (
	logFile   = "/sys/kernel/security/tpm0/binary_bios_measurements"
	nonceFile = "/sys/class/dmi/id/product_serial" // who starts the machine gives it
	pcrFile   = "/sys/class/tpm/tpm0/pcr-sha256/%d"
	port      = "/dev/ttyS1"
)

// Statement is what the witness writes.
type Statement struct {
	Attestation, Quote, Signature, Log []byte
	PCRs                               map[int][]byte
	Wrong                              string // what did not work
}

func main() {
	s := Statement{PCRs: map[int][]byte{}}
	if err := s.take(); err != nil {
		s.Wrong = err.Error()
	}
	if err := say(s); err != nil {
		fmt.Println(err)
	}
	unix.Sync()
	fmt.Println(unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func (s *Statement) take() error {
	for at, kind := range map[string]string{"/proc": "proc", "/sys": "sysfs", "/dev": "devtmpfs"} {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(kind, at, kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", at, err)
		}
	}
	if err := unix.Mount("securityfs", "/sys/kernel/security", "securityfs", 0, ""); err != nil {
		return fmt.Errorf("mount securityfs: %w", err)
	}
	var err error
	if s.Log, err = os.ReadFile(logFile); err != nil {
		return err
	}
	for pcr := range eventlog.MaxReplayed + 1 {
		text, err := os.ReadFile(fmt.Sprintf(pcrFile, pcr))
		if err != nil {
			return err
		}
		if s.PCRs[pcr], err = hex.DecodeString(strings.TrimSpace(string(text))); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(nonceFile)
	if err != nil {
		return err
	}
	nonce, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return s.quote(nonce)
}

// quote has the TPM quote all PCRs that can be judged, but Linux' own.
func (s *Statement) quote(nonce []byte) error {
	tpm, err := linuxtpm.Open("/dev/tpmrm0")
	if err != nil {
		return err
	}
	defer tpm.Close()
	key, err := tpm2.CreatePrimary{PrimaryHandle: tpm2.TPMRHEndorsement, InPublic: tpm2.New2B(enrol.AttestationTemplate())}.Execute(tpm)
	if err != nil {
		return err
	}
	delete(s.PCRs, 10)
	rsp, err := tpm2.Quote{
		SignHandle:     tpm2.AuthHandle{Handle: key.ObjectHandle, Name: key.Name, Auth: tpm2.PasswordAuth(nil)},
		QualifyingData: tpm2.TPM2BData{Buffer: nonce},
		PCRSelect:      seal.Policy{Bank: eventlog.SHA256, Values: s.PCRs}.Selection(),
	}.Execute(tpm)
	if err != nil {
		return err
	}
	s.Attestation, s.Quote, s.Signature = key.OutPublic.Bytes(), rsp.Quoted.Bytes(), tpm2.Marshal(rsp.Signature)
	return nil
}

func say(s Statement) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(port, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := fmt.Fprintf(out, "\nwitness:%s:\n", base64.StdEncoding.EncodeToString(raw)); err != nil {
		return err
	}
	return unix.IoctlSetInt(int(out.Fd()), unix.TCSBRK, 1) // until it is written
}
