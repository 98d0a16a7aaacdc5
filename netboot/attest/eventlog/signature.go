package eventlog

import "encoding/binary"

// Signature is an EFI_SIGNATURE_DATA: an entry of PK, KEK, db or dbx (UEFI 2.10 section 32.4.1).
type Signature struct {
	Type  GUID // empty in an event EV_EFI_VARIABLE_AUTHORITY, which does not say it
	Owner GUID
	Data  []byte // by Type: a certificate in DER, or a hash
}

// CertificateX509 is EFI_CERT_X509_GUID, a5c059a1-94e4-4aa7-87b5-ab155c2bf072: the type of signatures
// that are certificates.
func CertificateX509() GUID {
	return GUID{0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72}
}

// Sizes of an EFI_SIGNATURE_LIST.
const (
	guidSize       = 16
	listHeaderSize = guidSize + 3*4
)

// ParseSignatures reads the value of PK, KEK, db or dbx: signature lists one after the other. ok is
// that it is that to its last byte; an empty value has no signature.
func ParseSignatures(value []byte) (out []Signature, ok bool) {
	c := &cursor{rest: value}
	for len(c.rest) > 0 {
		var kind GUID
		copy(kind[:], c.bytes(guidSize))
		size, header, each := int64(c.uint32()), int64(c.uint32()), int64(c.uint32())
		rest := size - listHeaderSize - header
		if c.short || rest < 0 || each < guidSize || rest%each != 0 || size-listHeaderSize > int64(len(c.rest)) {
			return nil, false
		}
		c.bytes(int(header))
		for ; rest > 0; rest -= each {
			s := Signature{Type: kind}
			copy(s.Owner[:], c.bytes(guidSize))
			s.Data = c.bytes(int(each) - guidSize)
			out = append(out, s)
		}
	}
	return out, !c.short
}

// ParseAuthority reads the value of an event EV_EFI_VARIABLE_AUTHORITY of db: the entry by which an
// image was verified. What shim measures there has other values.
func ParseAuthority(value []byte) (s Signature, ok bool) {
	if len(value) <= guidSize {
		return Signature{}, false
	}
	copy(s.Owner[:], value)
	s.Data = value[guidSize:]
	return s, true
}

// ParseBootOrder reads the value of BootOrder: the numbers of boot options, in order.
func ParseBootOrder(value []byte) (order []uint16, ok bool) {
	if len(value)%2 != 0 {
		return nil, false
	}
	for ; len(value) > 0; value = value[2:] {
		order = append(order, binary.LittleEndian.Uint16(value))
	}
	return order, true
}
