package revisions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Booting is what a server of a group was seen to boot.
type Booting struct {
	Server string
	Cfg    *resource.BootConfiguration // its claim's; nil without
	// Digest is of the image; empty is not known.
	Digest string
	at     time.Time
	// evidence is the agent's; empty for somebody's word.
	evidence protocol.EvidenceKind
	current  bool // it is of cfg, and not of one before
}

// bootedPage is an agent's record that was opened.
type bootedPage struct {
	raw    []byte
	record resource.Provisioned
}

// Booted are the servers of a group: those that its selector matches, and those of claims
// that take its image.
func (c *Room) Booted(p *Pass, g *resource.ServerGroup, members []*resource.Server) (out []Booting) {
	names := map[string]bool{}
	for _, s := range members {
		names[s.Metadata.Name] = true
	}
	for _, cl := range p.Fleet.ClaimsTaking(g.Metadata.Name) {
		if cl.Status.Server != "" {
			names[cl.Status.Server] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, c.BootedBy(p.Fleet, name))
	}
	return out
}

// BootedBy is what is known of one server: the agent's record of its configuration, or of
// one before, where that was replaced and nothing booted since; or somebody's word.
func (c *Room) BootedBy(f plan.Fleet, server string) Booting {
	b := Booting{Server: server, Cfg: f.ConfigOf(f.ClaimOf(server))}
	if b.Cfg == nil {
		return b
	}
	if r := b.Cfg.Status.Provisioned; r != nil {
		b.Digest, b.at, b.evidence, b.current = r.ImageDigest, r.At, r.Evidence, true
		return b
	}
	if w := b.Cfg.Status.Adopted; w != nil {
		b.Digest, b.at, b.current = w.ImageDigest, w.At, true
		return b
	}
	if r := f.Reports[server]; r != nil && len(r.Provisioned) > 0 {
		if rec, ok := c.OpenedRecord(f, server, r.Provisioned); ok && rec.OwnerUID == b.Cfg.Spec.Owner.UID {
			b.Digest, b.at, b.evidence = rec.ImageDigest, rec.At, rec.Evidence
		}
	}
	return b
}

// OpenedRecord opens a record that the agent of a server signed; each is opened once.
func (c *Room) OpenedRecord(f plan.Fleet, server string, raw []byte) (resource.Provisioned, bool) {
	if page, ok := c.opened[server]; ok && bytes.Equal(page.raw, raw) {
		return page.record, page.record.Server == server
	}
	page := bootedPage{raw: raw}
	if a := c.cfg.Objects.AgentOf(server); a != nil {
		if err := wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactProvisioned, raw, &page.record); err != nil {
			page.record = resource.Provisioned{}
		}
	}
	c.opened[server] = page
	return page.record, page.record.Server == server
}

// Proved draws the conclusions from what was booted: an entry gets its stamp, and a
// revision is verified. It answers with the group as it is then.
func (c *Room) Proved(ctx context.Context, p *Pass, g *resource.ServerGroup, seen []Booting) (*resource.ServerGroup, error) {
	var errs []error
	for i, r := range p.History[g.Metadata.UID] {
		booted := 0
		verified := r.Status.Verified
		for _, b := range seen {
			if b.Digest == "" || !HoldsImage(r, b.Digest) || b.Cfg.Spec.Group != g.Metadata.Name {
				continue
			}
			booted++
			if b.evidence == "" {
				continue
			}
			if !p.soaked(g, r, b) {
				continue
			}
			errs = append(errs, c.Stamp(ctx, r, b))
			verified = true
		}
		if booted == r.Status.Booted && verified == r.Status.Verified {
			continue
		}
		own := store.Copy(c.cfg.Objects, r)
		own.Status.Booted, own.Status.Verified = booted, verified
		if err := c.cfg.Objects.Put(ctx, own); err != nil {
			errs = append(errs, err)
			continue
		}
		p.History[g.Metadata.UID][i] = own
	}
	g, err := c.verified(ctx, p, g)
	return g, errors.Join(append(errs, err)...)
}

// soaked says whether a boot proves a revision: where a roll-out is under way with it, that
// says so; else the soak time is over since.
func (p *Pass) soaked(g *resource.ServerGroup, r *resource.GroupRevision, b Booting) bool {
	if ro := g.Status.Rollout; ro != nil && ro.Revision == r.Spec.Number && stepped(ro.Phase) {
		return ro.Members[b.Server].State == resource.MemberDone
	}
	at := b.at.Add(g.Spec.Rollout.Soak.D())
	if p.Now.Before(at) {
		p.At(at)
		return false
	}
	return true
}

// stepped says whether a roll-out of the phase still looks at its servers.
func stepped(phase resource.RolloutPhase) bool {
	return phase != resource.RolloutAborted && phase != resource.RolloutFailed && phase != resource.RolloutSuperseded && phase != resource.RolloutRolledBack
}

// verified notes the newest revision that was.
func (c *Room) verified(ctx context.Context, p *Pass, g *resource.ServerGroup) (*resource.ServerGroup, error) {
	newest := g.Status.Verified
	for _, r := range p.History[g.Metadata.UID] {
		if r.Status.Verified && r.Spec.Number <= g.Status.Revision {
			newest = max(newest, r.Spec.Number)
		}
	}
	if newest == g.Status.Verified {
		return g, nil
	}
	own, err := store.Get[*resource.ServerGroup](c.cfg.Objects, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	own.Status.Verified = newest
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.verified")
	c.Event(ctx, own, "has revision %d verified: servers booted it and stayed up", newest)
	return own, nil
}

// HoldsImage reports whether a revision has an image of a digest, for any architecture.
func HoldsImage(r *resource.GroupRevision, digest string) bool {
	for _, img := range r.Spec.Images {
		if img.Digest == digest {
			return true
		}
	}
	return false
}

// Stamp gives an entry its stamp where a server proved it under this version of the hub:
// by a configuration that this version made.
func (c *Room) Stamp(ctx context.Context, r *resource.GroupRevision, b Booting) error {
	entry, err := store.Peek[*resource.BootImage](c.cfg.Objects, r.Spec.BootImage)
	made := b.Cfg.Metadata.CreatedAt
	if err != nil || !b.current || made == nil || made.Before(c.versionSince) || bootimages.StampValid(entry, c.cfg.Version) == bootimages.StampGood {
		return nil //nolint:nilerr // the entry is gone, or the image is the owner's own
	}
	s := bootimages.StampFor(entry, c.cfg.Version, bootimages.Proof{Server: b.Server, Revision: r, Image: b.Digest, Evidence: b.evidence, At: b.at})
	if s == nil {
		return nil
	}
	own := store.Copy(c.cfg.Objects, entry)
	own.Status.Stamp = s
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.group.stamped")
	c.cfg.Events.OwnOf(ctx, resource.Target{Kind: resource.KindServerGroup, Name: r.Spec.Group}, b.Server, resource.EventGroup, fmt.Sprintf("%s proved %s, version %s: %s", r.Spec.Group, s.Image, s.Version, s.Evidence))
	return nil
}

// StampOf is the stamp of an entry where it counts.
func (c *Room) StampOf(entry *resource.BootImage) *resource.BootImageStamp {
	if entry == nil || bootimages.StampValid(entry, c.cfg.Version) != bootimages.StampGood {
		return nil
	}
	return entry.Status.Stamp
}

// Unstamped says why a revision is for canaries only; empty where it is not.
func (c *Room) Unstamped(r *resource.GroupRevision) string {
	if r.Spec.BootImage == "" {
		return "" // the owner's word is enough
	}
	entry, err := store.Peek[*resource.BootImage](c.cfg.Objects, r.Spec.BootImage)
	switch s := r.Spec.Stamp; {
	case err == nil && entry.Digest() == r.Spec.BootImageDigest:
		return bootimages.StampValid(entry, c.cfg.Version).Words(entry, c.cfg.Version)
	case s != nil && s.HubVersion == c.cfg.Version:
		return ""
	}
	return r.Spec.BootImage + " is not in the catalogue any more as it was, and no server booted it under this version of the hub"
}

// metaVersion is where it is kept since when the hub has its version.
const metaVersion = "hub-version"

type versionMark struct {
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
}

// TakeVersion is since when the hub has its version; another one than was there begins
// now.
func (c *Room) takeVersion(ctx context.Context) (time.Time, error) {
	raw, revision, err := c.cfg.Meta.Get(metaVersion)
	if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
		return time.Time{}, err
	}
	var was versionMark
	if err == nil && json.Unmarshal(raw, &was) == nil && was.Version == c.cfg.Version {
		return was.Since, nil
	}
	now := versionMark{c.cfg.Version, c.cfg.Clock().UTC()}
	if raw, err = json.Marshal(now); err != nil {
		return time.Time{}, err
	}
	if c.cfg.Meta.Lost() != nil {
		return now.Since, nil // nothing is written, and nothing is begun that rests on it
	}
	return now.Since, c.cfg.Meta.Put(ctx, metaVersion, raw, revision)
}
