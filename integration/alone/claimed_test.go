//go:build host

package alone

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"rackboot/agent/boot"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/protocol/wire"
)

// canary is what nobody but the claimed server may read.
const canary = "canary-7d20-user-data"

func userData() []byte {
	return []byte(`{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["` + canary + `"]}]}}`)
}

// listeners are what the agent's file says: where user data goes through BMCs, theirs is a
// segment that nobody else reads.
func listeners(c rackConfig) []boot.LocalSegment {
	out := []boot.LocalSegment{{
		Name: "boot", Interface: bootDevice, DHCP: netip.MustParseAddrPort("0.0.0.0:67"),
		HTTP: netip.MustParseAddrPort(bootAddress + ":80"), TFTP: netip.MustParseAddrPort("0.0.0.0:69"),
	}}
	if c.Way != "" {
		out[0].DHCP6 = netip.MustParseAddrPort("[::]:547")
		out = append(out, boot.LocalSegment{Name: "bmcs", Interface: "bmc0", DHCP: netip.MustParseAddrPort("0.0.0.0:67"), HTTP: netip.MustParseAddrPort("10.8.0.1:80"), TrustedMedia: true})
	}
	return out
}

// segments are what the hub says of them.
func (r *rack) segments() []resource.SegmentIntent {
	out := []resource.SegmentIntent{{
		Name: "boot", Prefix: netip.MustParsePrefix("10.7.0.0/16"), PoolFrom: r.config.PoolFrom, PoolTo: r.config.PoolTo,
		Address: netip.MustParseAddr(bootAddress), BaseURL: "http://" + bootAddress, LeaseTime: time.Hour,
		Service: &resource.ServiceIntent{Mode: resource.ServiceFull, Reservations: []resource.Reservation{{Address: clientAddress, MAC: bootMAC}}},
	}}
	if r.config.Way != "" {
		out[0].IPv6 = &resource.SegmentIPv6Intent{Mode: resource.IPv6Stateless, Prefix: netip.MustParsePrefix("fd07::/64"), Address: netip.MustParseAddr(bootAddress6), LeaseTime: time.Hour}
		out = append(out, resource.SegmentIntent{Name: "bmcs", Role: resource.SegmentBMC, Prefix: netip.MustParsePrefix("10.8.0.0/24"), Address: netip.MustParseAddr("10.8.0.1"), BaseURL: "http://10.8.0.1"})
	}
	return out
}

// secrets gives the claimed server's boot user data, as the hub seals it.
func (r *rack) secrets(in *message.ServerIntent) error {
	if r.config.Way == "" {
		return nil
	}
	ref := resource.IgnitionRef{Secret: "node", UID: "secret-uid", Version: 1, Digest: "hmac"}
	body, err := r.sealed(in, ref)
	if err != nil {
		return err
	}
	r.body = body
	in.Boot.Ignition = message.IgnitionOf(ref)
	in.Boot.Ignition.Sealed, in.Boot.Ignition.Size = sealbox.Digest(body), int64(len(body))
	in.Boot.Secrets = r.config.Way
	if r.config.Way == resource.SecretsBMC {
		in.Boot.RequireEvidence = resource.EvidenceObserved
	}
	return nil
}

func (r *rack) sealed(in *message.ServerIntent, ref resource.IgnitionRef) ([]byte, error) {
	k, err := sealbox.ParseKey(r.key.Seed())
	if err != nil {
		return nil, err
	}
	return sealbox.SealIgnition(k.Public(), sealbox.IgnitionBinding{Agent: agentID, Server: in.Server, OwnerUID: in.Owner.UID, IgnitionRef: ref}, userData())
}

// Fetch implements files.UserData.
func (r *rack) Fetch(_ context.Context, sealed string) ([]byte, error) {
	if sealed != sealbox.Digest(r.body) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "fetch user data", "there is none")
	}
	return r.body, nil
}

// state is what the agent reports of the claimed server, and of itself.
type state struct {
	Power      protocol.PowerState
	Attempt    resource.AttemptState
	Recorded   resource.EvidenceClass // empty is no record that it is installed
	Conditions map[resource.ConditionCode]string
}

// reported keeps the last report.
func (r *rack) reported(topic string, payload []byte) error {
	if _, _, leaf, _ := message.SplitTopic(topic); !strings.HasPrefix(leaf, message.LeafReport) {
		return nil
	}
	var m message.Report
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(r.key).Public()), topic, payload, &m); err != nil {
		return err
	}
	if m.As != 0 {
		return nil // nothing has changed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = m
	return nil
}

func (r *rack) state() (s state, err error) {
	r.mu.Lock()
	m := r.last
	r.mu.Unlock()
	s.Conditions = map[resource.ConditionCode]string{}
	all := m.Conditions
	for _, one := range m.Servers {
		if one.Server != serverName {
			continue
		}
		all = append(all, one.Conditions...)
		s.Power = one.Power
		if one.Attempt != nil {
			s.Attempt = one.Attempt.State
		}
		if len(one.Provisioned) > 0 {
			var p resource.Provisioned
			if err := wire.Open(wire.NewVerifier(wire.NewSigner(r.key).Public()), wire.FactProvisioned, one.Provisioned, &p); err != nil {
				return s, err
			}
			s.Recorded = p.Class.Or()
		}
	}
	for _, c := range all {
		s.Conditions[c.Code] = c.Message
	}
	return s, nil
}
