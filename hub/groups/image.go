package groups

import (
	"rackboot/hub/catalogue"
	"rackboot/hub/conditions"
	"rackboot/hub/images"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/revisions"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Askers begins the names of what asks for images of groups.
const Askers = "group/"

// archSeen is what is known of a group's image for one architecture: of an entry of a
// catalogue, or with nil of the owner's own.
func (c *Room) archSeen(p *revisions.Pass, g *resource.ServerGroup, entry *resource.BootImage, arch string) bootimages.ArchSeen {
	reference := g.Spec.Image
	if entry != nil {
		a, ok := entry.Spec.Architectures[arch]
		if !ok {
			return bootimages.ArchSeen{}
		}
		if len(a.Files) > 0 {
			return c.boots(g, filesSeen(entry, arch, c.cfg.Images.Unfetched(entry)))
		}
		switch state, err := c.cfg.Images.Signed(entry, arch); state {
		case bootimages.SeenReady:
		case bootimages.SeenFailing, bootimages.SeenInvalid:
			return bootimages.ArchSeen{Has: true, State: state, Message: conditions.Text(err)}
		case bootimages.SeenAsked:
			return bootimages.ArchSeen{Has: true, State: state}
		}
		reference = a.Image
	}
	asker := Askers + g.Metadata.UID + "/" + arch + "/" + reference
	c.asked[asker] = true
	img, cond := c.cfg.Images.Get(wake.SiteUnit, images.Question{Asker: asker, Reference: reference, Architecture: arch})
	switch {
	case cond != nil && cond.Code == resource.CondRegistryUnavailable:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenFailing, Message: cond.Message}
	case cond != nil:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenInvalid, Message: cond.Message}
	case img == nil:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenAsked}
	}
	return c.boots(g, bootimages.ArchSeen{Has: true, State: bootimages.SeenReady, Image: *img})
}

// boots says whether the group's first boot can boot an image.
func (c *Room) boots(g *resource.ServerGroup, s bootimages.ArchSeen) bootimages.ArchSeen {
	if s.State != bootimages.SeenReady {
		return s
	}
	if err := c.cfg.Images.Require(s.Image, g.Spec.BootPolicy.FirstBoot.Target()); err != nil {
		s.Boots = err.Error()
	}
	return s
}

// filesSeen is what is known of an entry of files: all of them are to be verified. cause is why the last try of
// that has failed, if it has.
func filesSeen(entry *resource.BootImage, arch string, cause error) bootimages.ArchSeen {
	img, err := catalogue.Image(entry, arch)
	switch {
	case protocol.CodeOf(err) == protocol.CodeUnavailable && cause != nil:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenFailing, Message: err.Error() + ": " + conditions.Text(cause)}
	case protocol.CodeOf(err) == protocol.CodeUnavailable:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenFailing, Message: err.Error()}
	case err != nil:
		return bootimages.ArchSeen{Has: true, State: bootimages.SeenInvalid, Message: err.Error()}
	}
	return bootimages.ArchSeen{Has: true, State: bootimages.SeenReady, Image: img}
}
