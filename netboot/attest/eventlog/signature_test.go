package eventlog_test

import (
	"bytes"
	"crypto/x509"
	"encoding/binary"
	"slices"
	"testing"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
)

// Whose keys govern Secure Boot, and by which an image was verified, is read of real firmware's log.
func TestSignatures(t *testing.T) {
	raw, _ := logtest.Recorded(t, logtest.ShimGRUB)
	log, err := eventlog.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]byte{} // of variables, and of who verified shim
	for _, e := range log.Events {
		v, ok := eventlog.ParseVariable(e.Data)
		if !ok {
			continue
		}
		if e.Type == eventlog.EFIVariableAuthority && v.Name == "db" {
			v.Name = "authority"
		}
		values[v.Name] = v.Value
	}
	names := func(of string) (out []string) {
		signatures, ok := eventlog.ParseSignatures(values[of])
		if of == "authority" {
			var s eventlog.Signature
			s, ok = eventlog.ParseAuthority(values[of])
			signatures = []eventlog.Signature{s}
		}
		if !ok {
			t.Errorf("%s cannot be read", of)
		}
		for _, s := range signatures {
			if s.Type != eventlog.CertificateX509() && of != "authority" {
				out = append(out, s.Type.String())
				continue
			}
			cert, err := x509.ParseCertificate(s.Data)
			if err != nil {
				t.Fatalf("%s: %v", of, err)
			}
			out = append(out, cert.Subject.CommonName)
		}
		return out
	}
	for variable, want := range map[string][]string{
		"PK":        {"Debian UEFI Secure Boot (PK/KEK key)"},
		"KEK":       {"Debian UEFI Secure Boot (PK/KEK key)", "Microsoft Corporation KEK CA 2011"},
		"db":        {"Microsoft Windows Production PCA 2011", "Microsoft Corporation UEFI CA 2011"},
		"dbx":       {"c1c41626-504c-4092-aca9-41f936934328"}, // EFI_CERT_SHA256_GUID
		"authority": {"Microsoft Corporation UEFI CA 2011"},
	} {
		if got := names(variable); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", variable, got, want)
		}
	}
	if order, ok := eventlog.ParseBootOrder(values["BootOrder"]); !ok || !slices.Equal(order, []uint16{0, 1, 2, 3}) {
		t.Errorf("boot order %v, %v", order, ok)
	}
}

// Lists that say more than is there are none.
func TestSignaturesRefuse(t *testing.T) {
	list := func(size, header, each uint32, data []byte) []byte {
		le := binary.LittleEndian
		return append(le.AppendUint32(le.AppendUint32(le.AppendUint32(make([]byte, 16), size), header), each), data...)
	}
	good := list(28+2+2*20, 2, 20, make([]byte, 42))
	if s, ok := eventlog.ParseSignatures(append(bytes.Clone(good), good...)); !ok || len(s) != 4 || len(s[3].Data) != 4 {
		t.Errorf("%+v, %v", s, ok)
	}
	if s, ok := eventlog.ParseSignatures(nil); !ok || s != nil {
		t.Errorf("no value: %+v, %v", s, ok)
	}
	for name, value := range map[string][]byte{
		"cut":                            good[:len(good)-1],
		"cut in the header":              good[:20],
		"longer than it is":              list(28+40, 0, 20, make([]byte, 20)),
		"shorter than its header":        list(20, 0, 20, nil),
		"a header longer than the list":  list(28+20, 1<<31, 20, make([]byte, 20)),
		"signatures of no size":          list(28+20, 0, 0, make([]byte, 20)),
		"signatures of less than a GUID": list(28+15, 0, 15, make([]byte, 15)),
		"a half signature":               list(28+30, 0, 20, make([]byte, 30)),
	} {
		if s, ok := eventlog.ParseSignatures(value); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, ok := eventlog.ParseAuthority(make([]byte, 16)); ok {
		t.Error("an owner without a signature is one")
	}
	if _, ok := eventlog.ParseBootOrder(make([]byte, 3)); ok {
		t.Error("half a number is in an order")
	}
}
