package dhcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"slices"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// Messages as bytes. The codec does the same with 25 allocations for a message that is read and written, this with 7;
// FuzzReadAsCodec and TestWriteAsCodec hold this to what the codec says.

const (
	cookie = 0x63825363 // RFC 2131 section 3
	// minBOOTP is what relays take (RFC 1542 section 2.1).
	minBOOTP = 300
	// usualMessage has room for most replies.
	usualMessage = 512
	// usualOptions is room for the options of a client's message, and of a reply.
	usualOptions = 14 // one table of a map holds as many
)

var (
	errShort   = errors.New("shorter than a DHCP message")
	errCookie  = errors.New("without the magic cookie of DHCP")
	errOptions = errors.New("malformed options")
)

// readMessage reads a message, which keeps nothing of raw. An END is not wanted where whole options fill the packet, as
// some clients send them.
func readMessage(raw []byte) (*dhcpv4.DHCPv4, error) {
	switch {
	case len(raw) < optionsAt:
		return nil, errShort
	case binary.BigEndian.Uint32(raw[cookieAt:]) != cookie:
		return nil, errCookie
	}
	b := bytes.Clone(raw)
	part := func(from, size int) []byte { return b[from : from+size : from+size] }
	p := &dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeType(b[0]), HWType: iana.HWType(b[1]), HopCount: b[3], TransactionID: [4]byte(b[4:]),
		NumSeconds: binary.BigEndian.Uint16(b[8:]), Flags: binary.BigEndian.Uint16(b[10:]),
		ClientIPAddr: part(12, 4), YourIPAddr: part(16, 4), ServerIPAddr: part(20, 4), GatewayIPAddr: part(24, 4),
		ClientHWAddr: part(chaddrAt, min(int(b[2]), snameAt-chaddrAt)), ServerHostName: text(b[snameAt:fileAt]), BootFileName: text(b[fileAt:cookieAt]),
		Options: make(dhcpv4.Options, usualOptions),
	}
	for o := b[optionsAt:]; len(o) > 0 && o[0] != optionEnd; {
		if o[0] == optionPad {
			o = o[1:]
			continue
		}
		if len(o) < 2 || len(o) < 2+int(o[1]) {
			return nil, errOptions
		}
		end := 2 + int(o[1])
		if had, twice := p.Options[o[0]]; twice { // RFC 3396
			p.Options[o[0]] = slices.Concat(had, o[2:end])
		} else {
			p.Options[o[0]] = o[2:end:end]
		}
		o = o[end:]
	}
	return p, nil
}

// text is a field's bytes before its first NUL.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// writeMessage writes a message: options in ascending order, 82 behind the others (RFC 3046 section 2.1), END, and what lacks
// of 300 bytes. An option of more than 255 bytes is split (RFC 3396).
func writeMessage(p *dhcpv4.DHCPv4) []byte {
	b := make([]byte, optionsAt, usualMessage)
	b[0], b[1], b[2], b[3] = byte(p.OpCode), byte(p.HWType), byte(len(p.ClientHWAddr)), p.HopCount
	copy(b[4:], p.TransactionID[:])
	binary.BigEndian.PutUint16(b[8:], p.NumSeconds)
	binary.BigEndian.PutUint16(b[10:], p.Flags)
	for i, ip := range [...]net.IP{p.ClientIPAddr, p.YourIPAddr, p.ServerIPAddr, p.GatewayIPAddr} {
		copy(b[12+4*i:], ip.To4())
	}
	copy(b[chaddrAt:snameAt], p.ClientHWAddr)
	copy(b[snameAt:fileAt-1], p.ServerHostName)
	copy(b[fileAt:cookieAt-1], p.BootFileName)
	binary.BigEndian.PutUint32(b[cookieAt:], cookie)
	relay := dhcpv4.OptionRelayAgentInformation.Code()
	var codes [optionEnd]byte // all that there are
	n := 0
	for code := range p.Options {
		if code != optionPad && code != optionEnd && code != relay {
			codes[n] = code
			n++
		}
	}
	slices.Sort(codes[:n])
	for _, code := range codes[:n] {
		b = appendOption(b, code, p.Options[code])
	}
	if v, is := p.Options[relay]; is {
		b = appendOption(b, relay, v)
	}
	b = append(b, optionEnd)
	return b[:max(len(b), minBOOTP)] // behind its length it is zero, which is PAD
}

func appendOption(b []byte, code byte, v []byte) []byte {
	for {
		n := min(len(v), maxOption)
		b = append(append(b, code, byte(n)), v[:n]...)
		if v = v[n:]; len(v) == 0 {
			return b
		}
	}
}
