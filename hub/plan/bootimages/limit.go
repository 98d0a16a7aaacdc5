package bootimages

import (
	"fmt"

	"rackboot/protocol/resource"
)

// limit is up to which specification user data may be.
type limit string

const (
	limitAny   limit = "any"
	limitEntry limit = "the entry's"
	limitNone  limit = "none"
)

// limitRule says up to which specification of Ignition the user data of a group may be.
// The first row that fits decides.
//
//	user data | entry | maxIgnition | limit
//	no        | *     | *           | any
//	yes       | no    | *           | any
//	yes       | yes   | yes         | the entry's
//	yes       | yes   | no          | none
//
// Nothing is guessed of an entry that says no maxIgnition: the metadata of streams does not
// have it, and an image that gets a specification that it does not read fails its first
// boot (MCO#5865). An image of the owner's own has nobody else who could say it; the lowest
// specification that holds the content is taken.
func limitRule(userData, entry, says bool) limit {
	switch {
	case !userData || !entry:
		return limitAny
	case says:
		return limitEntry
	}
	return limitNone
}

// Unlimited says why a group with user data cannot take an entry, as far as its maxIgnition
// goes; empty if it can.
func Unlimited(g *resource.ServerGroup, entry *resource.BootImage) string {
	if limitRule(g.Spec.Stub != nil, entry != nil, entry != nil && entry.Spec.MaxIgnition != "") != limitNone {
		return ""
	}
	name := entry.Metadata.Name
	return fmt.Sprintf("entry %s says no maxIgnition, so nothing says which user data its image reads, and nothing is guessed: "+
		"rackctl delete bootimage %s, and import it again with --max-ignition VERSION, such as 3.4.0; a group without spec.stub takes it as it is", name, name)
}
