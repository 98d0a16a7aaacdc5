package bootcert

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/netboot"
	"rackboot/protocol"
)

func TestX509Lists(t *testing.T) {
	a, pairs := testPairs()
	leaf := pairs[netboot.KeyECDSA].Leaf()
	data := X509Lists(Owner(), a.Certificate(), leaf)
	got, err := ParseSignatureLists(data)
	if err != nil {
		t.Fatal(err)
	}
	want := []SignatureList{
		{Type: TypeX509(), Signatures: []Signature{{Owner(), a.Certificate().Raw}}},
		{Type: TypeX509(), Signatures: []Signature{{Owner(), leaf.Raw}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := TypeX509().String(); got != "a5c059a1-94e4-4aa7-87b5-ab155c2bf072" {
		t.Errorf("EFI_CERT_X509_GUID is %s", got)
	}
	if got := Owner().String(); got != "7c2d5b1e-6f0a-4d3c-9a81-52ac6b0074e9" {
		t.Errorf("the owner is %s", got)
	}
}

// TestSignatureListBytes: the layout of UEFI specification section 32.4.1, byte by
// byte.
func TestSignatureListBytes(t *testing.T) {
	l := SignatureList{Type: TypeX509(), Signatures: []Signature{{Owner(), []byte{0xde, 0xad}}}}
	const want = "a159c0a5e494a74a87b5ab155c2bf072" + // EFI_CERT_X509_GUID
		"2e000000" + "00000000" + "12000000" + // 46 bytes in all, no header, 18 each
		"1e5b2d7c0a6f3c4d9a8152ac6b0074e9" + "dead"
	if got := hex.EncodeToString(appendList(nil, l)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseSignatureListsRefuses(t *testing.T) {
	good := appendList(nil, SignatureList{Type: TypeX509(), Signatures: []Signature{{Owner(), []byte("ab")}, {Owner(), []byte("cd")}}})
	if l, err := ParseSignatureLists(good); err != nil || len(l) != 1 || len(l[0].Signatures) != 2 {
		t.Fatalf("%v, %v", l, err)
	}
	set := func(at int, v byte) []byte {
		out := bytes.Clone(good)
		out[at] = v
		return out
	}
	for name, data := range map[string][]byte{
		"cut":                      good[:len(good)-1],
		"less than a header":       good[:listHeader-1],
		"more behind it":           append(bytes.Clone(good), 0),
		"a size of nothing":        set(16, 0),
		"a size beyond the end":    set(16, 0xff),
		"a header beyond the end":  set(20, 0xff),
		"signatures of nothing":    set(24, 0),
		"signatures without data":  set(24, 16),
		"part of a signature":      set(24, 17),
		"a size of four gigabytes": set(19, 0xff),
		"larger than any variable": make([]byte, maxLists+1),
	} {
		if l, err := ParseSignatureLists(data); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}

func FuzzParseSignatureLists(f *testing.F) {
	one := SignatureList{Type: TypeX509(), Signatures: []Signature{{Owner(), []byte("ab")}, {Owner(), []byte("cd")}}}
	f.Add([]byte{})
	f.Add(appendList(nil, one))
	f.Add(appendList(appendList(nil, SignatureList{Header: []byte("h"), Signatures: one.Signatures[:1]}), one))
	f.Fuzz(func(t *testing.T, data []byte) {
		lists, err := ParseSignatureLists(data)
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
