package firmware

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

// maxOffers is HTTP_BOOT_OFFER_MAX_NUM and PXEBC_OFFER_MAX_NUM.
const maxOffers = 16

// receive calls take for each reply of the transaction until it returns false, or
// the time is over, or ctx ends (the only error besides the socket's).
func (s *socket) receive(ctx context.Context, request *dhcpv4.DHCPv4, wait time.Duration, take func(*dhcpv4.DHCPv4) bool) error {
	if err := s.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var buf [4096]byte
	for {
		n, _, err := s.conn.ReadFrom(buf[:])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return protocol.Errorf(protocol.CodeUnavailable, "firmware", "receiving: %w", err)
		}
		if n > maxMessage {
			continue
		}
		p, err := dhcpv4.FromBytes(bytes.Clone(buf[:n]))
		if err != nil || p.OpCode != dhcpv4.OpcodeBootReply || p.TransactionID != request.TransactionID ||
			!bytes.Equal(p.ClientHWAddr, request.ClientHWAddr) {
			continue
		}
		if !take(p) {
			return nil
		}
	}
}

// discover sends DISCOVER in four tries. In each it collects offers until the
// try's time is over, and gives them to choose; with eager set it asks choose
// after each offer, as operating systems do.
func (s *socket) discover(ctx context.Context, c *Client, discover *dhcpv4.DHCPv4, eager bool, choose func([]*dhcpv4.DHCPv4) bool) error {
	for _, wait := range tryTimes() {
		if err := s.send(discover); err != nil {
			return err
		}
		discover.NumSeconds += uint16(wait / time.Second) // for the next try
		var offers []*dhcpv4.DHCPv4
		chosen := false
		err := s.receive(ctx, discover, c.scaled(wait), func(p *dhcpv4.DHCPv4) bool {
			// EDK2 ignores an OFFER without option 54.
			if p.MessageType() != dhcpv4.MessageTypeOffer || len(p.Options.Get(dhcpv4.OptionServerIdentifier)) != 4 {
				return true
			}
			if len(offers) < maxOffers {
				offers = append(offers, p)
			}
			chosen = eager && choose(offers)
			return !chosen
		})
		if err != nil {
			return err
		}
		if chosen || choose(offers) {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeTimeout, "firmware", "%w in %d tries", ErrNoOffer, len(tryTimes()))
}

// request sends the REQUEST for the offer and waits for the ACK. An ACK for
// another address is declined.
func (s *socket) request(ctx context.Context, c *Client, discover, offer *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, error) {
	req := request(discover, offer)
	server := offer.Options.Get(dhcpv4.OptionServerIdentifier)
	for _, wait := range tryTimes() {
		if err := s.send(req); err != nil {
			return nil, err
		}
		var got *dhcpv4.DHCPv4
		err := s.receive(ctx, req, c.scaled(wait), func(p *dhcpv4.DHCPv4) bool {
			kind := p.MessageType()
			if (kind != dhcpv4.MessageTypeAck && kind != dhcpv4.MessageTypeNak) || !bytes.Equal(p.Options.Get(dhcpv4.OptionServerIdentifier), server) {
				return true
			}
			got = p
			return false
		})
		switch {
		case err != nil:
			return nil, err
		case got == nil:
			continue
		case got.MessageType() == dhcpv4.MessageTypeNak:
			return nil, protocol.Errorf(protocol.CodeConflict, "firmware", "%w: %s", ErrNak, optionString(got, dhcpv4.OptionMessage))
		case !got.YourIPAddr.Equal(offer.YourIPAddr):
			decline := request(discover, got)
			decline.Options[dhcpv4.OptionDHCPMessageType.Code()] = []byte{byte(dhcpv4.MessageTypeDecline)}
			return nil, errors.Join(protocol.Errorf(protocol.CodeConflict, "firmware", "%w: offered %s, granted %s", ErrProtocol, offer.YourIPAddr, got.YourIPAddr), s.send(decline))
		}
		return got, nil
	}
	return nil, protocol.Errorf(protocol.CodeTimeout, "firmware", "no answer to REQUEST in %d tries", len(tryTimes()))
}
