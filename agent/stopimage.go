package agent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"

	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// The stop image is what a machine of ours is given that asks for a boot without an
// order, where the rack says so: shim and GRUB, which waits. It has a token of its own,
// which is good for nothing else, and is the same for as long as the agent runs.

// stopToken is the token of a server's stop image, in the form of an attempt's.
func stopToken(key, server string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("stop image " + server))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// wantsStop says whether the rack's machines are given a stop image.
func wantsStop(s *message.SafeStopIntent) bool {
	return s != nil && s.NetworkFirst == resource.NetworkFirstStopImage
}

// offerStop is the stop image for a boot client of a class; nil if there is none.
func (a *Agent) offerStop(e indexed, token string, class protocol.ClientClass) *decide.StopOffer {
	c, err := a.stopChain(e, class == protocol.ClassHTTPClient)
	if err != nil {
		return nil
	}
	return &decide.StopOffer{Token: token, File: c.FileFor(class)}
}

// stopChain is the chain of a server's stop image.
func (a *Agent) stopChain(e indexed, http bool) (protocol.BootChain, error) {
	i := slices.IndexFunc(a.cfg.Segments, func(s LocalSegment) bool { return s.Name == e.segment })
	if i < 0 || !http && !a.cfg.Segments[i].TFTP.IsValid() && !a.cfg.Segments[i].TFTP6.IsValid() {
		return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose stop image", "segment %q has no TFTP server", e.segment).
			WithHint("give the segment a tftp address in the agent's file")
	}
	return chain.Stop(e.architecture, a.chains.Set()[e.architecture], http)
}

// openStop opens a file of a server's stop image.
func (b *boots) openStop(server string, e indexed, name string) (*netboot.File, error) {
	const op = "open stop image"
	a := b.agent
	now := a.cfg.Clock()
	if e.held || e.missing || e.orders.Explain(now) {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not have %s now", server, name)
	}
	c, err := a.stopChain(e, true)
	if err != nil {
		if c, err = a.stopChain(e, false); err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err)
		}
	}
	found, waits, ok := chain.LookupStop(c, name, server, a.index.powerOffAfter())
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the stop image has no %s", name)
	}
	if waits {
		if s, ok := a.loops.of(server); ok {
			s.saw(decide.Event{StopImage: true, At: now})
		}
		return rendered(found.Text, now), nil
	}
	return b.blob(found.Digest, name, a.started)
}

// stopAt is the token of the stop image of the machine that has an address.
func (b *boots) stopAt(remote netip.Addr) (token string, ok bool) {
	client, ok := b.leased.of(remote, b.agent.cfg.Clock())
	if !ok {
		return "", false
	}
	return b.agent.index.stopOf(client)
}

// loadersChanged is told of another set of loaders.
func (a *Agent) loadersChanged() {
	a.loops.LookAtAll()
	a.sayNoStop()
}

// sayNoStop says for which architectures there is no stop image that the rack wants.
func (a *Agent) sayNoStop() {
	missing := map[string]bool{}
	a.index.mu.RLock()
	wants := wantsStop(a.index.safeStop)
	for _, e := range a.index.servers {
		missing[e.architecture] = true
	}
	a.index.mu.RUnlock()
	var whys []string
	for cpu := range missing {
		if _, err := chain.Stop(cpu, a.chains.Set()[cpu], false); wants && cpu != "" && err != nil {
			whys = append(whys, protocol.Advice(err))
		}
	}
	if len(whys) == 0 {
		a.reports.Clear(resource.CondNoStopImage)
		return
	}
	slices.Sort(whys)
	a.reports.Raise(resource.CondNoStopImage, strings.Join(whys, "; "))
}
