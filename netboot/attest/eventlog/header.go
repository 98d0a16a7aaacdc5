package eventlog

import (
	"bytes"
	"fmt"
)

// Fields of the header, which is a TCG_PCR_EVENT around a TCG_EfiSpecIDEventStruct (PFP
// 1.06 section 10.4.5.1).
const (
	sha1Size      = 20
	specSignature = "Spec ID Event03\x00"
	agileMajor    = 2 // specVersionMajor of TPM 2.0
)

// parseHeader reads the first event, of the form that TPM 1.2 had. Errors are words that
// follow "the event log's header".
func parseHeader(c *cursor) (*Log, error) {
	pcr, kind, digest, data := c.uint32(), Type(c.uint32()), c.bytes(sha1Size), c.sized()
	if c.short {
		return nil, fmt.Errorf("is cut off")
	}
	if kind != NoAction || !bytes.HasPrefix(data, []byte(specSignature)) {
		return nil, fmt.Errorf("is none of a log for several hash algorithms: a log of SHA-1 proves nothing")
	}
	if pcr != 0 || !bytes.Equal(digest, make([]byte, sha1Size)) {
		return nil, fmt.Errorf("has a PCR or a digest")
	}
	h := &cursor{rest: data[len(specSignature):]}
	h.uint32() // platformClass
	minor, major, errata, uintn, count := h.uint8(), h.uint8(), h.uint8(), h.uint8(), h.uint32()
	if h.short {
		return nil, fmt.Errorf("is cut off")
	}
	if major != agileMajor || uintn != 1 && uintn != 2 {
		return nil, fmt.Errorf("is of version %d.%d.%d with words of %d times 32 bits", major, minor, errata, uintn)
	}
	if count == 0 || count > maxAlgorithms {
		return nil, fmt.Errorf("names %d hash algorithms; 1 to %d are read", count, maxAlgorithms)
	}
	log := &Log{}
	for range count {
		bank, size := Algorithm(h.uint16()), int(h.uint16())
		if h.short {
			return nil, fmt.Errorf("is cut off")
		}
		if bank.Size() == 0 || size != bank.Size() {
			return nil, fmt.Errorf("gives digests of %s %d bytes", bank, size)
		}
		if log.has(bank) {
			return nil, fmt.Errorf("names %s twice", bank)
		}
		log.Banks = append(log.Banks, bank)
	}
	if log.Vendor = h.bytes(int(h.uint8())); h.short {
		return nil, fmt.Errorf("is cut off")
	}
	return log, nil
}
