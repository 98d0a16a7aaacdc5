package bootcert

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/netboot"
	"rackboot/protocol"
)

func TestX509Lists(t *testing.T) {
	a, pairs := testPairs()
	leaf := pairs[netboot.KeyECDSA].Leaf()
	data := x509Lists(owner(), a.Certificate(), leaf)
	got, err := parseSignatureLists(data)
	if err != nil {
		t.Fatal(err)
	}
	want := []SignatureList{
		{Type: typeX509(), Signatures: []Signature{{owner(), a.Certificate().Raw}}},
		{Type: typeX509(), Signatures: []Signature{{owner(), leaf.Raw}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := typeX509().String(); got != "a5c059a1-94e4-4aa7-87b5-ab155c2bf072" {
		t.Errorf("EFI_CERT_X509_GUID is %s", got)
	}
	if got := owner().String(); got != "7c2d5b1e-6f0a-4d3c-9a81-52ac6b0074e9" {
		t.Errorf("the owner is %s", got)
	}
}

// TestSignatureListBytes: the layout of UEFI specification section 32.4.1, byte by
// byte.
func TestSignatureListBytes(t *testing.T) {
	l := SignatureList{Type: typeX509(), Signatures: []Signature{{owner(), []byte{0xde, 0xad}}}}
	const want = "a159c0a5e494a74a87b5ab155c2bf072" + // EFI_CERT_X509_GUID
		"2e000000" + "00000000" + "12000000" + // 46 bytes in all, no header, 18 each
		"1e5b2d7c0a6f3c4d9a8152ac6b0074e9" + "dead"
	if got := hex.EncodeToString(appendList(nil, l)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzParseSignatureLists(f *testing.F) {
	one := SignatureList{Type: typeX509(), Signatures: []Signature{{owner(), []byte("ab")}, {owner(), []byte("cd")}}}
	f.Add([]byte{})
	f.Add(appendList(nil, one))
	f.Add(appendList(appendList(nil, SignatureList{Header: []byte("h"), Signatures: one.Signatures[:1]}), one))
	f.Fuzz(func(t *testing.T, data []byte) {
		lists, err := parseSignatureLists(data)
		if err != nil {
			return
		}
		var again []byte
		for _, l := range lists {
			if len(l.Signatures) == 0 {
				return // its signature size is not kept
			}
			again = appendList(again, l)
		}
		if !bytes.Equal(again, data) {
			t.Fatalf("%x became %x", data, again)
		}
	})
}

// parseSignatureLists reads signature lists, one behind the other. The slices are
// parts of data. An invalid error says which list is malformed.
func parseSignatureLists(data []byte) ([]SignatureList, error) {
	bad := func(n int, format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "read EFI signature list", "list %d %s", n+1, fmt.Sprintf(format, args...))
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
