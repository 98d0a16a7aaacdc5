package groups

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// booting is what a server of a group was seen to boot.
type booting struct {
	server string
	cfg    *resource.BootConfiguration // its claim's; nil without
	// digest is of the image; empty is not known.
	digest string
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

// booted are the servers of a group: those that its selector matches, and those of claims
// that take its image.
func (c *Room) booted(p *groupPass, g *resource.ServerGroup, members []*resource.Server) (out []booting) {
	names := map[string]bool{}
	for _, s := range members {
		names[s.Metadata.Name] = true
	}
	for _, cl := range p.f.ClaimsTaking(g.Metadata.Name) {
		if cl.Status.Server != "" {
			names[cl.Status.Server] = true
		}
	}
	for _, name := range sortedKeys(names) {
		out = append(out, c.bootedBy(p.f, name))
	}
	return out
}

func sortedKeys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// bootedBy is what is known of one server: the agent's record of its configuration, or of
// one before, where that was replaced and nothing booted since; or somebody's word.
func (c *Room) bootedBy(f plan.Fleet, server string) booting {
	b := booting{server: server, cfg: f.ConfigOf(f.ClaimOf(server))}
	if b.cfg == nil {
		return b
	}
	if r := b.cfg.Status.Provisioned; r != nil {
		b.digest, b.at, b.evidence, b.current = r.ImageDigest, r.At, r.Evidence, true
		return b
	}
	if w := b.cfg.Status.Adopted; w != nil {
		b.digest, b.at, b.current = w.ImageDigest, w.At, true
		return b
	}
	if r := f.Reports[server]; r != nil && len(r.Provisioned) > 0 {
		if rec, ok := c.openedRecord(f, server, r.Provisioned); ok && rec.OwnerUID == b.cfg.Spec.Owner.UID {
			b.digest, b.at, b.evidence = rec.ImageDigest, rec.At, rec.Evidence
		}
	}
	return b
}

// openedRecord opens a record that the agent of a server signed; each is opened once.
func (c *Room) openedRecord(f plan.Fleet, server string, raw []byte) (resource.Provisioned, bool) {
	if page, ok := c.groups.booted[server]; ok && bytes.Equal(page.raw, raw) {
		return page.record, page.record.Server == server
	}
	page := bootedPage{raw: raw}
	if a := c.cfg.Store.AgentOf(server); a != nil {
		if err := wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactProvisioned, raw, &page.record); err != nil {
			page.record = resource.Provisioned{}
		}
	}
	c.groups.booted[server] = page
	return page.record, page.record.Server == server
}

// proved draws the conclusions from what was booted: an entry gets its stamp, and a
// revision is verified. It answers with the group as it is then.
func (c *Room) proved(ctx context.Context, p *groupPass, g *resource.ServerGroup, seen []booting) (*resource.ServerGroup, error) {
	var errs []error
	for i, r := range p.history[g.Metadata.UID] {
		booted := 0
		verified := r.Status.Verified
		for _, b := range seen {
			if b.digest == "" || !holdsImage(r, b.digest) || b.cfg.Spec.Group != g.Metadata.Name {
				continue
			}
			booted++
			if b.evidence == "" {
				continue
			}
			if !p.soaked(g, r, b) {
				continue
			}
			errs = append(errs, c.stamp(ctx, r, b))
			verified = true
		}
		if booted == r.Status.Booted && verified == r.Status.Verified {
			continue
		}
		own := store.Copy(c.cfg.Store, r)
		own.Status.Booted, own.Status.Verified = booted, verified
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			errs = append(errs, err)
			continue
		}
		p.history[g.Metadata.UID][i] = own
	}
	g, err := c.verified(ctx, p, g)
	return g, errors.Join(append(errs, err)...)
}

// soaked says whether a boot proves a revision: where a roll-out is under way with it, that
// says so; else the soak time is over since.
func (p *groupPass) soaked(g *resource.ServerGroup, r *resource.GroupRevision, b booting) bool {
	if ro := g.Status.Rollout; ro != nil && ro.Revision == r.Spec.Number && stepped(ro.Phase) {
		return ro.Members[b.server].State == resource.MemberDone
	}
	at := b.at.Add(g.Spec.Rollout.Soak.D())
	if p.now.Before(at) {
		p.at(at)
		return false
	}
	return true
}

// stepped says whether a roll-out of the phase still looks at its servers.
func stepped(phase resource.RolloutPhase) bool {
	return phase != resource.RolloutAborted && phase != resource.RolloutFailed && phase != resource.RolloutSuperseded && phase != resource.RolloutRolledBack
}

// verified notes the newest revision that was.
func (c *Room) verified(ctx context.Context, p *groupPass, g *resource.ServerGroup) (*resource.ServerGroup, error) {
	newest := g.Status.Verified
	for _, r := range p.history[g.Metadata.UID] {
		if r.Status.Verified && r.Spec.Number <= g.Status.Revision {
			newest = max(newest, r.Spec.Number)
		}
	}
	if newest == g.Status.Verified {
		return g, nil
	}
	own, err := store.Get[*resource.ServerGroup](c.cfg.Store, g.Metadata.Name)
	if err != nil {
		return g, err
	}
	own.Status.Verified = newest
	if err := c.cfg.Store.Put(ctx, own); err != nil {
		return g, err
	}
	c.cfg.Crash.At("hub.group.verified")
	c.groupEvent(ctx, own, "has revision %d verified: servers booted it and stayed up", newest)
	return own, nil
}

func holdsImage(r *resource.GroupRevision, digest string) bool {
	for _, img := range r.Spec.Images {
		if img.Digest == digest {
			return true
		}
	}
	return false
}

// stamp gives an entry its stamp where a server proved it under this version of the hub:
// by a configuration that this version made.
func (c *Room) stamp(ctx context.Context, r *resource.GroupRevision, b booting) error {
	entry, err := store.Peek[*resource.BootImage](c.cfg.Store, r.Spec.BootImage)
	made := b.cfg.Metadata.CreatedAt
	if err != nil || !b.current || made == nil || made.Before(c.versionSince) || bootimages.StampValid(entry, c.cfg.Version) == bootimages.StampGood {
		return nil //nolint:nilerr // the entry is gone, or the image is the owner's own
	}
	s := bootimages.StampFor(entry, c.cfg.Version, bootimages.Proof{Server: b.server, Revision: r, Image: b.digest, Evidence: b.evidence, At: b.at})
	if s == nil {
		return nil
	}
	own := store.Copy(c.cfg.Store, entry)
	own.Status.Stamp = s
	if err := c.cfg.Store.Put(ctx, own); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.group.stamped")
	c.cfg.Events.OwnOf(ctx, resource.Target{Kind: resource.KindServerGroup, Name: r.Spec.Group}, b.server, resource.EventGroup, fmt.Sprintf("%s proved %s, version %s: %s", r.Spec.Group, s.Image, s.Version, s.Evidence))
	return nil
}

// stampOf is the stamp of an entry where it counts.
func (c *Room) stampOf(entry *resource.BootImage) *resource.BootImageStamp {
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
	entry, err := store.Peek[*resource.BootImage](c.cfg.Store, r.Spec.BootImage)
	switch s := r.Spec.Stamp; {
	case err == nil && entry.Digest() == r.Spec.BootImageDigest:
		return bootimages.StampValid(entry, c.cfg.Version).Words(entry, c.cfg.Version)
	case s != nil && s.HubVersion == c.cfg.Version:
		return ""
	}
	return r.Spec.BootImage + " is not in the catalogue any more as it was, and no server booted it under this version of the hub"
}

// counts are a group's servers by what they boot.
func counts(seen []booting, current *resource.GroupRevision) (out resource.GroupCounts) {
	out.Servers = len(seen)
	for _, b := range seen {
		switch {
		case b.digest == "":
			out.Unknown++
		case current != nil && holdsImage(current, b.digest):
			out.Current++
		default:
			out.Older++
		}
	}
	return out
}

// inUse are the images that a group has in use, for the limit of age: what was seen is
// more than what is recorded.
func inUse(p *groupPass, g *resource.ServerGroup, seen []booting, current *resource.GroupRevision) (out []bootimages.InUse) {
	for _, b := range seen {
		if b.digest != "" {
			out = append(out, bootimages.InUse{Group: g.Metadata.Name, Server: b.server, Catalogue: g.Spec.Catalogue, Version: p.versions[b.digest]})
		}
	}
	if len(out) == 0 && current != nil {
		out = append(out, bootimages.InUse{Group: g.Metadata.Name, Catalogue: g.Spec.Catalogue, Version: current.Spec.Version})
	}
	return out
}

// failing are the servers that were given a group's current revision and do not come up
// with it: what fell back runs, and not as the group says.
func (c *Room) failing(p *groupPass, g *resource.ServerGroup) (out []string) {
	for _, b := range p.f.ConfigsOf(g.Metadata.Name) {
		if b.Spec.Revision != g.Status.Revision || b.Spec.Owner.Kind.Or() != resource.PurposeClaim {
			continue
		}
		r := p.f.Reports[b.Spec.Server]
		if r == nil || r.OwnerUID != b.Spec.Owner.UID {
			continue
		}
		if i := slices.IndexFunc(r.Conditions, func(s resource.ConditionState) bool {
			fell := s.Code == resource.CondFellBack && r.Fallback != nil && r.Fallback.Generation == b.Metadata.Generation
			return fell || s.Code == resource.CondFirstBootFailed || s.Code == resource.CondGrantSpent
		}); i >= 0 {
			out = append(out, fmt.Sprintf("server %s: %s: %s", b.Spec.Server, r.Conditions[i].Code, cmp.Or(r.Conditions[i].Message, "it did not come up with the image")))
		}
	}
	return out
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
	raw, revision, err := c.cfg.Store.Meta(metaVersion)
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
	return now.Since, c.cfg.Store.PutMeta(ctx, metaVersion, raw, revision)
}
