package dhcp6

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

const (
	// headerSize is message type and transaction ID (RFC 8415 section 8), relayHeader
	// type, hop count and two addresses (section 9).
	headerSize  = 4
	relayHeader = 34
	// maxHops is HOP_COUNT_LIMIT (RFC 8415 section 7.6): the largest hop count, and one
	// level fewer than there may be.
	maxHops = 8
)

var (
	errShort = errors.New("message is cut off")
	errHops  = errors.New("too many relays")
	errType  = errors.New("not a message for a server")
)

// message is a client's message, its options as raw bytes: what nobody reads cannot
// be malformed, and a machine is not kept from booting by it.
type message struct {
	kind    dhcpv6.MessageType
	xid     [3]byte
	options dhcpv6.Options
}

// hop is one Relay-forward around a message.
type hop struct {
	count      uint8
	link, peer netip.Addr
	options    dhcpv6.Options
}

// decode reads a message and the relays around it, the outermost first.
func decode(raw []byte) (m message, hops []hop, err error) {
	for {
		switch {
		case len(raw) < headerSize:
			return m, nil, errShort
		case dhcpv6.MessageType(raw[0]) != dhcpv6.MessageTypeRelayForward:
			m = message{kind: dhcpv6.MessageType(raw[0]), xid: [3]byte(raw[1:4])}
			m.options, err = rawOptions(raw[headerSize:])
			return m, hops, err
		case len(raw) < relayHeader:
			return m, nil, errShort
		case raw[1] > maxHops, len(hops) > maxHops:
			return m, nil, errHops
		}
		h := hop{count: raw[1], link: netip.AddrFrom16([16]byte(raw[2:18])), peer: netip.AddrFrom16([16]byte(raw[18:34]))}
		if h.options, err = rawOptions(raw[relayHeader:]); err != nil {
			return m, nil, err
		}
		inner, ok := value(h.options, dhcpv6.OptionRelayMsg)
		if !ok {
			return m, nil, errType
		}
		hops, raw = append(hops, h), inner
	}
}

// rawOptions splits options and reads none of them.
func rawOptions(raw []byte) (dhcpv6.Options, error) {
	var o dhcpv6.Options
	err := o.FromBytesWithParser(raw, func(code dhcpv6.OptionCode, data []byte) (dhcpv6.Option, error) {
		return &dhcpv6.OptionGeneric{OptionCode: code, OptionData: data}, nil
	})
	return o, err
}

// value is the first option with the code.
func value(o dhcpv6.Options, code dhcpv6.OptionCode) ([]byte, bool) {
	opt := o.GetOne(code)
	if opt == nil {
		return nil, false
	}
	return opt.ToBytes(), true
}

// numbers reads a list of 16-bit numbers: option 61 (RFC 5970 section 3.3), option 6.
// Of an odd length, what is whole is read.
func numbers(raw []byte) []uint16 {
	var out []uint16
	for ; len(raw) >= 2; raw = raw[2:] {
		out = append(out, binary.BigEndian.Uint16(raw))
	}
	return out
}

// strings16 reads a list of values that have 16-bit lengths: options 15 and 16 (RFC
// 8415 sections 21.15 and 21.16). What comes after a malformed one is not read.
func strings16(raw []byte) []string {
	var out []string
	for len(raw) >= 2 {
		n := int(binary.BigEndian.Uint16(raw))
		if raw = raw[2:]; n > len(raw) {
			break
		}
		out, raw = append(out, string(raw[:n])), raw[n:]
	}
	return out
}
