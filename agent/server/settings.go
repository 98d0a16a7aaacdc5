package server

import (
	"crypto/ed25519"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// rackKeys are the keys of the rack's agents. The hub signed the list.
func rackKeys(r message.RackIntent) *wire.Verifier {
	var keys []ed25519.PublicKey
	for _, k := range r.AgentKeys {
		if len(k) == ed25519.PublicKeySize {
			keys = append(keys, k)
		}
	}
	return wire.NewVerifier(keys...)
}

// saidKeys tells one list of keys from another.
func saidKeys(r message.RackIntent) string {
	var out []byte
	for _, k := range r.AgentKeys {
		out = append(binary.AppendUvarint(out, uint64(len(k))), k...)
	}
	return string(out)
}

// settings of a rack that has not said any yet are the defaults of the kind.
func settings(r message.RackIntent) decide.Settings {
	d := decide.Settings{SoftTimeout: r.SoftTimeout, SettleWindow: r.SettleWindow, PollInterval: r.PollInterval}
	if d.PollInterval == 0 {
		var k resource.Rack
		k.Default()
		d = decide.Settings{SoftTimeout: k.Spec.SoftTimeout.D(), SettleWindow: k.Spec.SettleWindow.D(), PollInterval: k.Spec.PollInterval.D()}
	}
	if s := r.SafeStop; s != nil {
		d.BelieveAfter = s.BelieveAfter
	}
	d.Poll, d.PollInterval = d.PollInterval, jitter(d.PollInterval)
	return d
}

// jitter is d ± 20 %: agents and servers that start together do not stay in step.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(max(1, d*2/5))
}
