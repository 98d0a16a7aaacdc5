package upgrade

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
)

// self is what an order is compared with.
type self struct {
	version, architecture string
	keys                  []ed25519.PublicKey
	running               string // digest of the program that runs
}

// judged is an order that may be followed.
type judged struct {
	version string
	binary  agentpackage.Binary
	runs    bool // it is what runs
}

// judge verifies an order. An empty code lets it through. hub is the hub's time; zero is not known, and then nothing is late.
func judge(me self, o message.UpgradeIntent, hub time.Time) (j judged, code message.UpgradeCode, why string) {
	m, err := agentpackage.Open(o.Manifest, me.keys)
	switch {
	case protocol.CodeOf(err) == protocol.CodeDenied:
		return j, message.UpgradeBadSignature, "no key of upgrade.keys in the agent's file signed it: " + err.Error()
	case err != nil:
		return j, message.UpgradeBadManifest, err.Error()
	}
	binary, there := m.For(me.architecture)
	switch {
	case !there:
		return j, message.UpgradeNoProgram, "the package has no program for " + me.architecture
	case binary.SHA256 == me.running:
		return judged{m.Version, binary, true}, "", ""
	case m.Protocol < protocol.Version:
		return j, message.UpgradeBadProtocol, fmt.Sprintf("it speaks protocol %d of the link, and this agent and its hub %d", m.Protocol, protocol.Version)
	case !m.Follows(me.version):
		return j, message.UpgradeTooOld, fmt.Sprintf("it may be installed from %s on, and this is %s", m.From, me.version)
	case !hub.IsZero() && hub.After(o.NotAfter):
		return j, message.UpgradeLate, "the order was valid until " + o.NotAfter.UTC().Format(time.RFC3339)
	}
	return judged{m.Version, binary, false}, "", ""
}
