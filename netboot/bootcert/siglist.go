package bootcert

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"

	"rackboot/protocol"
)

// GUID is an EFI GUID as it is in memory: the first three fields little-endian
// (UEFI specification appendix A).
type GUID [16]byte

// String is the usual text form.
func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x",
		binary.LittleEndian.Uint32(g[0:4]), binary.LittleEndian.Uint16(g[4:6]), binary.LittleEndian.Uint16(g[6:8]), g[8:10], g[10:16])
}

// TypeX509 is EFI_CERT_X509_GUID, a5c059a1-94e4-4aa7-87b5-ab155c2bf072 (UEFI
// specification section 32.4.1).
func TypeX509() GUID {
	return GUID{0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72}
}

// Owner is the SignatureOwner of what Rackboot makes, so that set-up menus show which
// entries are its own: 7c2d5b1e-6f0a-4d3c-9a81-52ac6b0074e9.
func Owner() GUID {
	return GUID{0x1e, 0x5b, 0x2d, 0x7c, 0x0a, 0x6f, 0x3c, 0x4d, 0x9a, 0x81, 0x52, 0xac, 0x6b, 0x00, 0x74, 0xe9}
}

const (
	guidSize = 16
	// listHeader is SignatureType, SignatureListSize, SignatureHeaderSize and
	// SignatureSize.
	listHeader = guidSize + 3*4
	// maxLists bounds what is parsed, in bytes. The variable TlsCaCertificate has to
	// fit into flash; all authorities of a browser are 200 KiB.
	maxLists = 4 << 20
)

// Signature is an EFI_SIGNATURE_DATA.
type Signature struct {
	Owner GUID
	Data  []byte // for TypeX509 a certificate in DER
}

// SignatureList is an EFI_SIGNATURE_LIST. All its signatures have one size.
type SignatureList struct {
	Type       GUID
	Header     []byte // empty for all types that the specification has
	Signatures []Signature
}

// X509Lists makes signature lists of certificates, one for each, because their
// sizes differ. So is the value of the UEFI variable TlsCaCertificate, and OVMF's
// etc/edk2/https/cacerts.
func X509Lists(owner GUID, certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = appendList(out, SignatureList{Type: TypeX509(), Signatures: []Signature{{Owner: owner, Data: c.Raw}}})
	}
	return out
}

// appendList writes a list with at least one signature, all of one size.
func appendList(out []byte, l SignatureList) []byte {
	size := guidSize
	if len(l.Signatures) > 0 {
		size += len(l.Signatures[0].Data)
	}
	out = append(out, l.Type[:]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(listHeader+len(l.Header)+size*len(l.Signatures)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(l.Header)))
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	out = append(out, l.Header...)
	for _, s := range l.Signatures {
		out = append(out, s.Owner[:]...)
		out = append(out, s.Data...)
	}
	return out
}

// ParseSignatureLists reads signature lists, one behind the other. The slices are
// parts of data. An invalid error says which list is malformed.
func ParseSignatureLists(data []byte) ([]SignatureList, error) {
	bad := func(n int, format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "read EFI signature list", "list %d %s", n+1, fmt.Sprintf(format, args...))
	}
	if len(data) > maxLists {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read EFI signature list", "%d bytes are more than %d", len(data), maxLists)
	}
	var out []SignatureList
	for len(data) > 0 {
		if len(data) < listHeader {
			return nil, bad(len(out), "has %d bytes, less than its header", len(data))
		}
		total := uint64(binary.LittleEndian.Uint32(data[guidSize:]))
		header := uint64(binary.LittleEndian.Uint32(data[guidSize+4:]))
		size := uint64(binary.LittleEndian.Uint32(data[guidSize+8:]))
		switch {
		case total < listHeader || total > uint64(len(data)):
			return nil, bad(len(out), "says that it has %d bytes, of %d", total, len(data))
		case header > total-listHeader:
			return nil, bad(len(out), "has a header of %d bytes", header)
		case size <= guidSize:
			return nil, bad(len(out), "has signatures of %d bytes", size)
		case (total-listHeader-header)%size != 0:
			return nil, bad(len(out), "is not a whole number of signatures")
		}
		l := SignatureList{Type: GUID(data[:guidSize])}
		if header > 0 {
			l.Header = data[listHeader : listHeader+header]
		}
		for rest := data[listHeader+header : total]; len(rest) > 0; rest = rest[size:] {
			l.Signatures = append(l.Signatures, Signature{Owner: GUID(rest[:guidSize]), Data: rest[guidSize:size]})
		}
		out, data = append(out, l), data[total:]
	}
	return out, nil
}
