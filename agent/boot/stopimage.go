package boot

import (
	"slices"
	"strings"

	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// The stop image is what a machine of ours is given that asks for a boot without an
// order, where the rack says so: shim and GRUB, which waits. It has a token of its own,
// which is good for nothing else, and is the same for as long as the agent runs.

// offerStop is the stop image for a boot client of a class; nil if there is none.
func (r *Room) offerStop(e indexed, token string, class protocol.ClientClass) *decide.StopOffer {
	c, err := r.stopChain(e, class == protocol.ClassHTTPClient)
	if err != nil {
		return nil
	}
	return &decide.StopOffer{Token: token, File: c.FileFor(class)}
}

// stopChain is the chain of a server's stop image.
func (r *Room) stopChain(e indexed, http bool) (protocol.BootChain, error) {
	i := slices.IndexFunc(r.cfg.Segments, func(s LocalSegment) bool { return s.Name == e.segment })
	if i < 0 || !http && !r.cfg.Segments[i].TFTP.IsValid() && !r.cfg.Segments[i].TFTP6.IsValid() {
		return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose stop image", "segment %q has no TFTP server", e.segment).
			WithHint("give the segment a tftp address in the agent's file")
	}
	return chain.Stop(e.cpu(), r.loaders.Set()[e.cpu()], http)
}

// loadersChanged is told of another set of loaders.
func (r *Room) loadersChanged() {
	r.cfg.Servers.LookAtAll()
	r.sayNoStop()
}

// sayNoStop says for which architectures there is no stop image that the rack wants.
func (r *Room) sayNoStop() {
	missing := map[string]bool{}
	r.index.mu.RLock()
	wants := wantsStop(r.index.safeStop)
	for _, e := range r.index.servers {
		missing[e.cpu()] = true
	}
	r.index.mu.RUnlock()
	var whys []string
	for cpu := range missing {
		if _, err := chain.Stop(cpu, r.loaders.Set()[cpu], false); wants && cpu != "" && err != nil {
			whys = append(whys, protocol.Advice(err))
		}
	}
	if len(whys) == 0 {
		r.cfg.Reports.Clear(resource.CondNoStopImage)
		return
	}
	slices.Sort(whys)
	r.cfg.Reports.Raise(resource.CondNoStopImage, strings.Join(whys, "; "))
}
