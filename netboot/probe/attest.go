package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/chip"
	"rackboot/netboot/attest/eventlog"
	"rackboot/protocol"
)

const (
	// attestWithin bounds attesting a boot, on which the report waits.
	attestWithin = time.Minute
	// eventLog is firmware's, as Linux shows it.
	eventLog = "/sys/kernel/security/tpm0/binary_bios_measurements"
)

// attestBoot proves to the agent at the base URL what this machine has booted: a quote that the agent asked for, and the
// event log. Errors are those of enrolTPM. A report goes out whatever came of it.
func (p *poster) attestBoot(ctx context.Context, base, device, log string) error {
	ctx, cancel := context.WithTimeout(ctx, attestWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.proveBoot(ctx, base, device, log) }() // a TPM that hangs is not waited for
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, "attest boot", "it took more than %s", attestWithin)
	}
}

func (p *poster) proveBoot(ctx context.Context, base, device, log string) error {
	tpm, err := chip.Open(device)
	if err != nil {
		return err
	}
	raw, err := readLog(log)
	if err == nil {
		var body []byte
		if body, err = p.step(ctx, base, netboot.AttestPath+string(netboot.AttestAsk), struct{}{}); err == nil {
			var ask attest.Ask
			if ask, err = attest.DecodeAsk(body); err == nil {
				var ev attest.Evidence
				if ev, err = tpm.Quote(ask); err == nil {
					ev.Log = raw
					_, err = p.step(ctx, base, netboot.AttestPath+string(netboot.AttestProve), ev)
				}
			}
		}
	}
	return errors.Join(err, tpm.Close())
}

// readLog reads an event log. The error is not_found, or unavailable.
func readLog(path string) ([]byte, error) {
	const op = "read event log"
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no %s", path)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, eventlog.MaxSize+1))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return raw, nil
}
