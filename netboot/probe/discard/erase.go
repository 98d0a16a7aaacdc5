package discard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"rackboot/protocol"
)

const (
	// step is what one call is asked to do, in bytes, so that a context's end is seen.
	step = 1 << 30
	// ends is what is zeroed and read back at the beginning and at the end of each disk,
	// in bytes: partition tables, and what LVM, RAID and file systems write first and last.
	ends = 16 << 20
)

// Method is how a disk is discarded that can do both.
type Method string

// The methods.
const (
	MethodDiscard Method = "discard" // the drive forgets (BLKDISCARD); what it then reads is its own affair
	MethodZero    Method = "zero"    // zeros are written (BLKZEROOUT), which takes as long as writing does
)

// ParseMethod reads a method; empty is [MethodDiscard]. The error is invalid.
func ParseMethod(s string) (Method, error) {
	switch m := Method(s); m {
	case "":
		return MethodDiscard, nil
	case MethodDiscard, MethodZero:
		return m, nil
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "discard disks", "%s=%q is no method", ArgumentMethod, s).WithHint("use discard or zero")
}

// Device is an open disk.
type Device interface {
	io.ReaderAt
	io.Closer
	// Discard tells the drive that a range, in bytes, is of no use; errors.ErrUnsupported
	// if it cannot be told.
	Discard(offset, length int64) error
	// Zero makes a range read as zeros, and returns when it is on the medium.
	Zero(offset, length int64) error
}

// eraseRule says what is done to a disk.
//
//	method  | drive discards | done
//	discard | yes            | discarded
//	discard | no             | zeroed
//	zero    | *              | zeroed
func eraseRule(m Method, discards bool) string {
	if m == MethodDiscard && discards {
		return "discarded"
	}
	return "zeroed"
}

// erase discards a disk of size bytes, and says what was done.
func erase(ctx context.Context, d Device, size int64, m Method) (done string, err error) {
	discards := true
	if m == MethodDiscard {
		err = each(ctx, size, d.Discard)
		if discards = !errors.Is(err, errors.ErrUnsupported); discards && err != nil {
			return "", fmt.Errorf("discard: %w", err)
		}
	}
	if done = eraseRule(m, discards); done == "zeroed" {
		if err := each(ctx, size, d.Zero); err != nil {
			return "", fmt.Errorf("zero: %w", err)
		}
	}
	length := min(ends, size)
	for _, offset := range []int64{0, size - length} {
		if err := d.Zero(offset, length); err != nil {
			return "", fmt.Errorf("zero %d bytes at %d: %w", length, offset, err)
		}
		if err := zeros(d, offset, length); err != nil {
			return "", err
		}
	}
	return done, nil
}

// each calls f for a disk of size bytes, step by step.
func each(ctx context.Context, size int64, f func(offset, length int64) error) error {
	for offset := int64(0); offset < size; offset += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(offset, min(step, size-offset)); err != nil {
			return err
		}
	}
	return nil
}

// zeros wants a range to read as zeros.
func zeros(d io.ReaderAt, offset, length int64) error {
	const block = 1 << 20
	got, none := make([]byte, block), make([]byte, block)
	for end := offset + length; offset < end; offset += block {
		n := min(block, end-offset)
		if _, err := d.ReadAt(got[:n], offset); err != nil {
			return fmt.Errorf("read back: %w", err)
		}
		if !bytes.Equal(got[:n], none[:n]) {
			return fmt.Errorf("read back: at %d it is not zero", offset)
		}
	}
	return nil
}
