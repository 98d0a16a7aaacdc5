package accounts

import (
	"cmp"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Attribute is one of a certificate's subject.
type Attribute struct {
	Type  string // as [AttributeTypes] has it
	Value string
}

// Subject is that of a certificate, in the order of RFC 4514: that of the certificate the other way round.
type Subject []Attribute

// CommonName is the type of a common name.
const CommonName = "CN"

// Common is a subject that is a common name alone.
func Common(name string) Subject { return Subject{{CommonName, name}} }

// AttributeTypes are those that NATS tells apart, by their object identifiers (nats-server v2.15.2,
// internal/ldap/dn.go). It takes a subject that has others for one without them.
func AttributeTypes() map[string]string {
	return map[string]string{
		"2.5.4.3": CommonName, "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
		"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.17": "POSTALCODE", "0.9.2342.19200300.100.1.25": "DC",
	}
}

// plain are the characters that mean themselves in a subject, in a file of NATS between quotes and in one of Mosquitto.
// A space is plain within a value.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@:/"

const (
	maxAttributes = 16
	maxValue      = 64 // characters; X.520 allows no longer common name
)

// String is the subject as NATS compares it (RFC 4514).
func (s Subject) String() string {
	parts := make([]string, len(s))
	for i, a := range s {
		parts[i] = a.Type + "=" + a.Value
	}
	return strings.Join(parts, ",")
}

// common is the one common name, by which Mosquitto knows a certificate.
func (s Subject) common() (string, error) {
	name, n := "", 0
	for _, a := range s {
		if a.Type == CommonName {
			name, n = a.Value, n+1
		}
	}
	if n != 1 {
		return "", refuse("the certificate's subject %q has %d common names, and Mosquitto needs one", s, n)
	}
	return name, nil
}

// check refuses what a file of either broker could not say exactly.
func (s Subject) check() error {
	if len(s) == 0 || len(s) > maxAttributes {
		return refuse("a certificate's subject has %d attributes; it is 1 to %d", len(s), maxAttributes)
	}
	types := AttributeTypes()
	for _, a := range s {
		known := false
		for _, t := range types {
			known = known || t == a.Type
		}
		if !known {
			return refuse("a certificate's subject has an attribute %q, which brokers do not compare", a.Type)
		}
		if a.Value == "" || len(a.Value) > maxValue || strings.Trim(a.Value, " ") != a.Value || strings.Trim(strings.ReplaceAll(a.Value, " ", ""), plain) != "" {
			return refuse("a certificate's subject has %s %q: 1 to %d of letters, digits, inner spaces and ._-@:/ can be written down exactly", a.Type, a.Value, maxValue)
		}
	}
	return nil
}

// same reports whether NATS takes two subjects for one: the order does not count.
func (s Subject) same(o Subject) bool {
	sorted := func(s Subject) Subject {
		return slices.SortedFunc(slices.Values(s), func(a, b Attribute) int {
			return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Value, b.Value))
		})
	}
	return slices.Equal(sorted(s), sorted(o))
}

func refuse(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, op, format, args...).
		WithHint("give the hub another certificate: broker.certFile and store.nats.certFile of its file name them")
}

const op = "write the broker's users"
