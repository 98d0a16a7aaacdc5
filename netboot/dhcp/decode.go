package dhcp

import (
	"errors"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// Layout of a DHCP message (RFC 2131 section 2).
const (
	chaddrAt  = 28
	snameAt   = 44
	fileAt    = 108
	cookieAt  = 236
	optionsAt = 240
)

const (
	optionPad = 0
	optionEnd = 255
)

// What option 52 says is filled with options (RFC 2132 section 9.3).
const (
	overloadFile  = 1
	overloadSname = 2
)

var errOverload = errors.New("malformed options in file or sname")

// decode reads a message, with the options that option 52 says are in `file` and `sname`.
func decode(raw []byte) (*dhcpv4.DHCPv4, error) {
	p, err := readMessage(raw)
	if err != nil {
		return nil, err
	}
	v := p.Options.Get(dhcpv4.OptionOptionOverload)
	if len(v) != 1 {
		return p, nil
	}
	// RFC 2131 section 4.1: first the options field, then file, then sname.
	if v[0]&overloadFile != 0 {
		if p.Options.FromBytes(raw[fileAt:cookieAt]) != nil {
			return nil, errOverload
		}
		p.BootFileName = ""
	}
	if v[0]&overloadSname != 0 {
		if p.Options.FromBytes(raw[snameAt:fileAt]) != nil {
			return nil, errOverload
		}
		p.ServerHostName = ""
	}
	return p, nil
}

// messageType finds the value of option 53 in options that may be anything; 0 if it is not there.
func messageType(options []byte) byte {
	for len(options) > 2 && options[0] != optionEnd {
		switch {
		case options[0] == optionPad:
			options = options[1:]
			continue
		case options[0] == byte(dhcpv4.OptionDHCPMessageType) && options[1] > 0:
			return options[2]
		case len(options) < 2+int(options[1]):
			return 0
		}
		options = options[2+int(options[1]):]
	}
	return 0
}
