package env

import (
	"context"
	"strings"
	"sync"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// isos are the uploaded files that environments may name.
func (c *Room) isos() map[string]resource.EnvISO {
	out := map[string]resource.EnvISO{}
	for _, f := range c.cfg.Store.ISOs() {
		out[f.File] = f.Env()
	}
	return out
}

// isoGrants keeps which uploaded files the documents name that an agent was sent last. A
// ledger is read once for each revision. It is safe for concurrent use.
type isoGrants struct {
	mu sync.Mutex
	by map[string]isoGrant
}

type isoGrant struct {
	revision uint64
	digests  map[string]bool
}

func newISOGrants() *isoGrants { return &isoGrants{by: map[string]isoGrant{}} }

// isosOf are the digests of the files of the hub that an agent's documents name.
func (c *Room) isosOf(agent string) (map[string]bool, error) {
	l, err := c.cfg.Store.PeekLedger(agent)
	if err != nil {
		return nil, err
	}
	c.isoGrants.mu.Lock()
	defer c.isoGrants.mu.Unlock()
	if have, ok := c.isoGrants.by[agent]; ok && have.revision == l.Revision {
		return have.digests, nil
	}
	digests := map[string]bool{}
	for leaf, sent := range l.Sent {
		if !strings.HasPrefix(leaf, message.LeafRack+"/") {
			continue
		}
		var d message.RackDoc
		if err := c.cfg.Link.Open(message.TopicDown(agent, leaf), sent.Body, &d); err != nil {
			return nil, err
		}
		for _, in := range d.Servers {
			if in.Boot == nil {
				continue
			}
			for _, d := range in.Boot.HubFiles() {
				digests[d] = true
			}
		}
	}
	c.isoGrants.by[agent] = isoGrant{l.Revision, digests}
	return digests, nil
}

// MayFetchISO says why an agent may not have the content of an uploaded file: nil if it
// serves its rack, and a document that it was sent names the digest. certificate is the
// common name of the one that TLS has verified. The code is denied, whether the file
// exists or not.
func (c *Room) MayFetchISO(certificate, digest string) error {
	a, err := store.Peek[*resource.Agent](c.cfg.Store, certificate)
	if certificate != "" && err == nil && c.cfg.Terms.Active(a) {
		digests, err := c.isosOf(certificate)
		if err != nil {
			return err
		}
		if digests[digest] {
			c.isoPulls.WithLabelValues(pullDone).Inc()
			return nil
		}
	}
	c.isoPulls.WithLabelValues(pullDenied).Inc()
	return protocol.Errorf(protocol.CodeDenied, "fetch file", "no document of the agent of the certificate names this digest").
		WithHint("only the agent that serves a rack gets the files that its servers boot from, by its own certificate; a newer document may name another digest")
}

// ISODigests are the contents that documents name which agents were sent, and those of the
// catalogue of boot images, see [store.Store.HubFiles]. An agent whose
// documents cannot be read makes it fail: nobody knows what it needs.
func (c *Room) ISODigests() (map[string]bool, error) {
	out := c.cfg.Store.HubFiles()
	for _, a := range store.List[*resource.Agent](c.cfg.Store) {
		digests, err := c.isosOf(a.Metadata.Name)
		if err != nil {
			return nil, err
		}
		for d := range digests {
			out[d] = true
		}
	}
	return out, nil
}

// ISOEvent files what became of an uploaded file.
func (c *Room) ISOEvent(ctx context.Context, said string) {
	c.cfg.Events.Own(ctx, "", resource.EventUploadedFile, said)
}
