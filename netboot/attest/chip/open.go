package chip

import (
	"net"
	"os"
	"time"

	"github.com/google/go-tpm/tpm2/transport"

	"rackboot/protocol"
)

// Device is the TPM of a machine with Linux, behind the kernel's resource manager.
const Device = "/dev/tpmrm0"

// maxUse bounds how long a socket of a TPM is used.
const maxUse = 5 * time.Minute

// Chip is a TPM. It is not safe for concurrent use. Close it.
type Chip struct {
	tpm   transport.TPM
	close func() error
}

// Open opens a TPM by the path of its device, or of a socket of one in software. Errors: not_found
// where there is none, else unavailable.
func Open(path string) (*Chip, error) {
	const op = "open TPM"
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no %s", path).WithHint("switch the TPM on in the machine's setup")
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
		}
		return &Chip{transport.FromReadWriter(f), f.Close}, nil
	}
	conn, err := net.DialTimeout("unix", path, maxUse)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	if err := conn.SetDeadline(time.Now().Add(maxUse)); err != nil {
		_ = conn.Close() // nothing was sent
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return &Chip{transport.FromReadWriter(conn), conn.Close}, nil
}

// Close ends the use of the TPM.
func (c *Chip) Close() error { return c.close() }
