package decide

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// identities tells which identity of a server is trusted.
type identities struct {
	d    *draft
	in   *message.ServerIntent // nil where no document names the server
	seen *Identity             // nil if it was not read
}

func identitiesOf(d *draft, s *Snapshot) identities {
	return identities{d, s.Intent, s.Identity}
}

// identify folds an identity that was read, and an operator's acceptance.
func (ids identities) identify() {
	k := ids.d.rec.Identity
	if read := ids.seen; read != nil {
		ids.read(*read)
		return
	}
	if k != nil && k.Other != nil && ids.accepted() == k.Other.Digest() {
		ids.trust(*k.Other)
	}
}

func (ids identities) accepted() string {
	if ids.in == nil {
		return ""
	}
	return ids.in.Identity
}

func (ids identities) read(is Identity) {
	k := ids.d.rec.Identity
	how, why := identifiedFirst, ""
	if k != nil && k.Trusted.Digest() != (Identity{}).Digest() {
		how, why = identifiedSame, k.Trusted.differences(is)
		if why == "" {
			is = is.with(k.Trusted)
		} else {
			how = identifiedOther
		}
	}
	accepted := "nothing"
	switch ids.accepted() {
	case "":
	case is.Digest():
		accepted = "this"
	default:
		accepted = "another"
	}
	if identityRule(how, accepted) == "trust" {
		ids.trust(is)
		return
	}
	if why == "" {
		why = "another one was accepted than the agent reads"
	}
	if k != nil && k.Other != nil && k.Other.Digest() == is.Digest() {
		return
	}
	next := Known{Other: &is, Why: why, At: ids.d.now}
	if k != nil {
		next.Trusted = k.Trusted
	}
	ids.d.rec.Identity = &next
	ids.d.dirty = true
	ids.d.happened(resource.EventIdentity, "%s", why)
}

// trust takes an identity for the server's.
func (ids identities) trust(is Identity) {
	k := ids.d.rec.Identity
	switch {
	case k != nil && k.Other == nil && k.Trusted.Digest() == is.Digest():
		return
	case k != nil && k.Other != nil && k.Other.Digest() == is.Digest():
		ids.d.happened(resource.EventIdentity, "accepted: %s", k.Why)
	case k != nil && k.Other != nil:
		ids.d.happened(resource.EventIdentity, "as it was before")
	}
	ids.d.rec.Identity = &Known{Trusted: is, At: ids.d.now}
	ids.d.dirty = true
}
