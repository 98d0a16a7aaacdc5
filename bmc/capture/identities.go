package capture

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// identities are what was found that names something, each with what stands for it: the same one
// wherever it is, so that a boot option still fits its interface.
type identities struct {
	macs  map[string]string // twelve digits in lower case
	uuids map[string]string // 32 digits in lower case
	words map[string]string
	ips   map[netip.Addr]netip.Addr
	order []string // the words, longest first; nil until it is asked for
	forms forms
}

func newIdentities() *identities {
	return &identities{macs: map[string]string{}, uuids: map[string]string{}, words: map[string]string{}, ips: map[netip.Addr]netip.Addr{}, forms: newForms()}
}

// learnMAC takes twelve digits in lower case. Groups and nobody's address, and the one that each
// BlueField card has, name no machine.
func (k *identities) learnMAC(digits string) {
	if len(digits) != 12 || strings.Trim(digits, "0") == "" || strings.ContainsRune("13579bdf", rune(digits[1])) || strings.HasPrefix(digits, "001acaffff") {
		return
	}
	if _, ok := k.macs[digits]; !ok {
		k.macs[digits] = fmt.Sprintf("0200%08x", 0x5e000000+len(k.macs)+1)
	}
}

// learnUUID takes 32 digits in lower case. One that ends in an address behind zeroes (Supermicro) ends in
// what stands for the address: the driver tells it by its zeroes.
func (k *identities) learnUUID(digits string) {
	if len(digits) != 32 || strings.Trim(digits, "0") == "" || strings.Trim(digits, "f") == "" || k.uuids[digits] != "" {
		return
	}
	if strings.Trim(digits[:20], "0") == "" {
		k.learnMAC(digits[20:])
		if mac := k.macs[digits[20:]]; mac != "" {
			k.uuids[digits] = digits[:20] + mac
			return
		}
		k.uuids[digits] = digits[:20] + fmt.Sprintf("%012x", 0xffff<<32|len(k.uuids)+1)
		return
	}
	k.uuids[digits] = fmt.Sprintf("%08x00004000%016x", 0xca000000+len(k.uuids)+1, uint64(0x8000000000000000)+uint64(len(k.uuids)+1))
}

// learnWord takes a serial number, a host's or a user's name. What is too short to be told from other
// words is replaced where its property stands, and nowhere else.
func (k *identities) learnWord(s string, is kind) {
	s = strings.TrimSpace(s)
	if addr, err := netip.ParseAddr(s); err == nil {
		k.learnIP(addr)
		return
	}
	if len(s) < 4 || placeholder(s) || slices.Contains(commonWords, strings.ToLower(s)) || k.words[s] != "" {
		return
	}
	if is == kindSerial && !telling(s) || k.macs[digitsOf(s)] != "" {
		return
	}
	k.words[s], k.order = k.fake(is, len(k.words)+1), nil
}

// fake is the n-th of what stands for something.
func (*identities) fake(is kind, n int) string {
	switch is {
	case kindHost:
		return fmt.Sprintf("host-%d", n)
	case kindUser:
		return fmt.Sprintf("user-%d", n)
	case kindOpen, kindText, kindFigure, kindUUID, kindSerial, kindSecret:
	}
	return fmt.Sprintf("ID%06d", n)
}

// learnIP takes an address. Those of nobody and of everybody, and masks, are kept.
func (k *identities) learnIP(a netip.Addr) {
	a = a.WithZone("")
	if a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.Is4() && a.As4()[0] == 255 {
		return
	}
	if _, ok := k.ips[a]; ok {
		return
	}
	n := len(k.ips) + 1
	if a.Is4() { // TEST-NET-1 (RFC 5737), then the network for benchmarks (RFC 2544)
		k.ips[a] = netip.AddrFrom4([4]byte{192, 0, 2, byte(n)})
		if n > 254 {
			k.ips[a] = netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)})
		}
		return
	}
	k.ips[a] = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}) // RFC 3849
}

// telling says whether a word can be told from others: it has letters and digits enough, or many digits.
func telling(s string) bool {
	digits := 0
	for _, c := range s {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return len(s) >= 5 && digits >= 2
}

// instance says whether a part of a path, or a run of letters and digits, is one thing's own number, as
// Cisco's Systems/FCH00000000 is; Boot0019 and VirtualMedia1 are not.
func instance(run string) bool {
	letters, digits := 0, 0
	for _, c := range run {
		switch {
		case c >= '0' && c <= '9':
			digits++
		default:
			letters++
		}
	}
	return len(run) >= 8 && digits >= 5 && letters >= 1
}

// longest are the words, longest first, so that none is cut by a part of it.
func (k *identities) longest() []string {
	if k.order == nil {
		for w := range k.words {
			k.order = append(k.order, w)
		}
		slices.SortFunc(k.order, func(a, b string) int {
			if d := len(b) - len(a); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
	}
	return k.order
}
