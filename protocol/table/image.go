package table

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

func bootImage(b *resource.BootImage, now time.Time) []filled {
	files, verified, source := 0, 0, ""
	for _, a := range b.Spec.Architectures {
		for _, f := range a.Files {
			files++
			if _, ok := b.Status.Verified["sha256:"+f.SHA256]; ok {
				verified++
			}
		}
		if a.Signature != nil {
			files++
			if ImageProof(b, a) != nil {
				verified++
			}
		}
	}
	proved := "" // other OCI images are verified by their digests when they are pulled
	if files > 0 {
		proved = fmt.Sprintf("%d/%d", verified, files)
	}
	stamped := ""
	if s := b.Status.Stamp; s != nil && s.Digest == b.Digest() {
		stamped = s.Server
	}
	if s := b.Spec.Source; s != nil {
		source = string(s.Kind) + " " + s.URL
	}
	return []filled{
		name(b),
		column("CATALOGUE", "The catalogue that it is of.", text(b.Spec.Catalogue)),
		column("VERSION", "Its version.", text(b.Spec.Version)),
		column("ARCHITECTURES", "The architectures that it boots.", list(slices.Sorted(maps.Keys(b.Spec.Architectures)))),
		column("VERIFIED", "How many files and signatures are verified, of how many.", text(proved)),
		column("STAMP", "The server that has proved that it boots.", text(stamped)),
		conditions(b.Status.Conditions, now),
		age(b),
		wide("MAX-IGNITION", "The newest version of Ignition that it reads.", text(b.Spec.MaxIgnition)),
		wide("DIGEST", "The digest of the entry.", text(b.Digest())),
		wide("SOURCE", "Where it is from.", text(strings.TrimSpace(source))),
	}
}

// ImageProof is what was proved of an OCI image; nil for nothing.
func ImageProof(b *resource.BootImage, a resource.BootImageArch) *resource.BootImageVerified {
	_, digest := resource.SplitImage(a.Image)
	if v, ok := b.Status.Verified[digest]; ok && v.Signature != nil {
		return &v
	}
	return nil
}

func group(g *resource.ServerGroup, now time.Time) []filled {
	managed, skipped := "", ""
	if e := g.Status.Enrolment; e != nil {
		managed, skipped = strconv.FormatBool(e.Managed), string(e.Skipped)
	}
	servers, stands := "", ""
	if c := g.Status.Counts; c != nil {
		servers = strconv.Itoa(c.Current) + "/" + strconv.Itoa(c.Servers)
	}
	if r := g.Status.Rollout; r != nil {
		stands = string(r.Phase)
	}
	return []filled{
		name(g),
		column("CATALOGUE", "The catalogue that its images are of.", text(g.Spec.Catalogue)),
		column("MANAGED", "Whether the hub updates it.", text(managed)),
		column("REVISION", "Its current revision.", number(g.Status.Revision)),
		column("CURRENT", "How many servers boot the current revision, of how many.", text(servers)),
		column("ROLLOUT", "Where its roll-out stands.", text(stands)),
		conditions(g.Status.Conditions, now),
		age(g),
		wide("SKIPPED", "Why the hub does not update it.", text(skipped)),
		wide("VERIFIED", "The last revision that servers really booted.", number(g.Status.Verified)),
	}
}

func revision(r *resource.GroupRevision, _ time.Time) []filled {
	s := r.Spec
	return []filled{
		name(r),
		column("GROUP", "The group that it is of.", text(s.Group)),
		column("NUMBER", "Counts the revisions of the group.", number(s.Number)),
		column("CAUSE", "What has made it.", text(s.Cause)),
		column("BOOTIMAGE", "The entry of the catalogue that it boots.", text(s.BootImage)),
		column("VERSION", "The version of that.", text(s.Version)),
		column("VERIFIED", "Whether servers booted it and stayed up.", text(strconv.FormatBool(r.Status.Verified))),
		column("AGE", "When it was made.", since(&s.At)),
		wide("BY", "Who has made it.", text(s.By)),
		wide("REASON", "Why it is.", text(s.Reason)),
	}
}

func managed(o *resource.ManagedBootImages, _ time.Time) []filled {
	return []filled{
		name(o),
		column("MODE", "Which groups the hub updates.", text(o.Spec.Mode)),
		column("SKEW", "How the oldest image in use is judged.", text(o.Spec.Skew.Mode)),
	}
}
