package env

import (
	"context"
	"strings"
	"sync"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// isos are the uploaded files that environments may name.
func (c *Room) isos() map[string]resource.EnvISO {
	out := map[string]resource.EnvISO{}
	for _, f := range c.cfg.Store.ISOs.List() {
		out[f.File] = f.Env()
	}
	return out
}

// isoGrants keeps which uploaded files the documents name that an agent was sent last. A
// document is read once, and not again for each acknowledgement. It is safe for concurrent use.
type isoGrants struct {
	mu sync.Mutex
	by map[string]map[string]isoGrant // by agent, and the leaf of the document
}

type isoGrant struct {
	sealed  string // digest of the document
	digests []string
}

func newISOGrants() *isoGrants { return &isoGrants{by: map[string]map[string]isoGrant{}} }

// isosOf are the digests of the files of the hub that an agent's documents name.
func (c *Room) isosOf(agent string) (map[string]bool, error) {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return nil, err
	}
	c.isoGrants.mu.Lock()
	defer c.isoGrants.mu.Unlock()
	had, now, out := c.isoGrants.by[agent], map[string]isoGrant{}, map[string]bool{}
	for leaf, sent := range l.Sent {
		if !strings.HasPrefix(leaf, message.LeafRack+"/") {
			continue
		}
		g, have := had[leaf]
		if !have || g.sealed != sent.Sealed {
			var d message.RackDoc
			if err := c.cfg.Link.Open(message.TopicDown(agent, leaf), sent.Body, &d); err != nil {
				return nil, err
			}
			g = isoGrant{sent.Sealed, hubFiles(d)}
		}
		now[leaf] = g
		for _, d := range g.digests {
			out[d] = true
		}
	}
	c.isoGrants.by[agent] = now
	return out, nil
}

// hubFiles are the digests of the files of the hub that a document names.
func hubFiles(d message.RackDoc) (digests []string) {
	if d.Rack != nil && d.Rack.Upgrade != nil {
		if m, err := agentpackage.Read(d.Rack.Upgrade.Manifest); err == nil {
			for _, b := range m.Binaries {
				digests = append(digests, b.SHA256)
			}
		}
	}
	for _, in := range d.Servers {
		if in.Boot != nil {
			digests = append(digests, in.Boot.HubFiles()...)
		}
	}
	return digests
}

// MayFetchISO says why an agent may not have the content of an uploaded file: nil if it
// serves its rack or stands by, and a document that it was sent names the digest. certificate is the
// common name of the one that TLS has verified. The code is denied, whether the file
// exists or not.
func (c *Room) MayFetchISO(certificate, digest string) error {
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, certificate)
	if certificate != "" && err == nil && c.cfg.Terms.Belongs(a) {
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
// catalogue of boot images, see [store.BootImages.Files]. An agent whose
// documents cannot be read makes it fail: nobody knows what it needs.
func (c *Room) ISODigests() (map[string]bool, error) {
	out := c.cfg.Store.BootImages.Files()
	for _, a := range store.List[*resource.Agent](c.cfg.Store.Objects) {
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
