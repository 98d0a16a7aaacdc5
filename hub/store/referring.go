package store

import (
	"slices"

	"rackboot/protocol/resource"
)

// referrers names what keeps a resource from being deleted.
func (objs *Objects) referrers(kind resource.Kind, name string) []string {
	if kind == resource.KindServer {
		return objs.users(name)
	}
	who := objs.referring(kind, name, resource.Kinds()...)
	switch kind { //nolint:exhaustive // of the others nothing more refers to one
	case resource.KindBootImage:
		who = append(who, objs.bootImageUsers(name)...)
	case resource.KindSecret:
		who = append(who, objs.managedStubUsers(name)...)
	}
	if kind == resource.KindTemplate || kind == resource.KindParam {
		who = append(who, objs.envUsers(kind, name)...)
		slices.Sort(who)
		who = slices.Compact(who)
	}
	return who
}

// referring names the resources of some kinds whose spec refers to one, in the order of
// the kinds.
func (objs *Objects) referring(kind resource.Kind, name string, by ...resource.Kind) []string {
	found := map[string][]string{} // by bucket
	for _, e := range objs.core.mirror.find(byReference, refersTo(kind, name)) {
		bucket, name := split(e.Key)
		found[bucket] = append(found[bucket], name)
	}
	var who []string
	for _, k := range by {
		for _, name := range found[bucketOf(k)] {
			who = append(who, reference(k, name))
		}
	}
	return who
}

// bootImageUsers names what of the hub's own keeps an entry: what servers boot. Revisions of
// groups have its images themselves, and the files of those stay (see [BootImages.Files]): a
// catalogue that is set back loses entries, and groups follow it.
func (objs *Objects) bootImageUsers(name string) []string {
	var who []string
	for _, b := range Find(objs, ConfigsByBootImage, name) {
		who = append(who, "BootConfiguration/"+b.Metadata.Name)
	}
	return who
}

// users names what keeps a server from being deleted or exchanged: its claim,
// claims and maintenances that name it, and holds, also released ones that the agent has not
// acknowledged.
func (objs *Objects) users(server string) []string {
	who := objs.referring(resource.KindServer, server, resource.KindClaim)
	for _, c := range Find(objs, ClaimsByServer, server) {
		who = append(who, "Claim/"+c.Metadata.Name)
	}
	slices.Sort(who)
	return append(slices.Compact(who), objs.referring(resource.KindServer, server, resource.KindMaintenance, resource.KindHold)...)
}
