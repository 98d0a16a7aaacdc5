package bootcert

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"
)

// GUID is an EFI GUID as it is in memory: the first three fields little-endian
// (UEFI specification appendix A).
type GUID [16]byte

// String is the usual text form.
func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x",
		binary.LittleEndian.Uint32(g[0:4]), binary.LittleEndian.Uint16(g[4:6]), binary.LittleEndian.Uint16(g[6:8]), g[8:10], g[10:16])
}

// typeX509 is EFI_CERT_X509_GUID, a5c059a1-94e4-4aa7-87b5-ab155c2bf072 (UEFI
// specification section 32.4.1).
func typeX509() GUID {
	return GUID{0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a, 0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72}
}

// owner is the SignatureOwner of what Rackboot makes, so that set-up menus show which
// entries are its own: 7c2d5b1e-6f0a-4d3c-9a81-52ac6b0074e9.
func owner() GUID {
	return GUID{0x1e, 0x5b, 0x2d, 0x7c, 0x0a, 0x6f, 0x3c, 0x4d, 0x9a, 0x81, 0x52, 0xac, 0x6b, 0x00, 0x74, 0xe9}
}

const (
	guidSize = 16
	// listHeader is SignatureType, SignatureListSize, SignatureHeaderSize and
	// SignatureSize.
	listHeader = guidSize + 3*4
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

// x509Lists makes signature lists of certificates, one for each, because their
// sizes differ. So is the value of the UEFI variable TlsCaCertificate, and OVMF's
// etc/edk2/https/cacerts.
func x509Lists(owner GUID, certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = appendList(out, SignatureList{Type: typeX509(), Signatures: []Signature{{Owner: owner, Data: c.Raw}}})
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
