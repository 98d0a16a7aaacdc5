package status

import (
	"cmp"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// noEvidence is the class of what is not installed.
const noEvidence resource.EvidenceClass = ""

// word is what somebody has said of a system that is installed.
type word string

const (
	wordNone     word = "none"
	wordSaid     word = "said"     // at this hub, without a record
	wordImported word = "imported" // for a record of another hub's agent
)

// evidenceRule says how strong the evidence is that a configuration's boot ended well. The first
// row that fits decides.
//
//	record   | word     | class
//	observed | imported | reported
//	observed | *        | observed
//	reported | *        | reported
//	none     | none     | none
//	none     | *        | reported
//
// What this hub knows of an imported record is what whoever imported it says.
func evidenceRule(record resource.EvidenceClass, w word) resource.EvidenceClass {
	switch {
	case record == resource.EvidenceObserved && w != wordImported:
		return resource.EvidenceObserved
	case record == noEvidence && w == wordNone:
		return noEvidence
	}
	return resource.EvidenceReported
}

// ClassOf is the class of a configuration.
func ClassOf(b *resource.BootConfiguration) resource.EvidenceClass {
	record := noEvidence
	if p := b.Status.Provisioned; p != nil {
		record = p.Class.Or()
	}
	return evidenceRule(record, wordOf(b))
}

func wordOf(b *resource.BootConfiguration) word {
	switch a := b.Status.Adopted; {
	case a == nil:
		return wordNone
	case a.Key != "":
		return wordImported
	}
	return wordSaid
}

// WayOf is how user data goes in the last boot by a configuration: that of its last attempt, else
// of its record. r is what the agent says of the server; nil is nothing.
func WayOf(b *resource.BootConfiguration, r *resource.ServerReport) resource.SecretsWay {
	var attempt, record resource.SecretsWay
	if p := b.Status.Provisioned; p != nil && wordOf(b) != wordImported {
		record = p.Secrets
	}
	if r != nil && r.Attempt != nil && r.Attempt.OwnerUID == b.Spec.Owner.UID && r.Attempt.Generation == b.Metadata.Generation {
		attempt = r.Attempt.Secrets
	}
	return cmp.Or(attempt, record)
}

// evidenceFor is class and way of an owner's configuration; empty without one.
func evidenceFor(objs *store.Objects, heard *reports.Mirror, owner string) (resource.EvidenceClass, resource.SecretsWay) {
	made := store.Find(objs, store.ConfigsByOwner, owner)
	if len(made) == 0 {
		return noEvidence, ""
	}
	r, _ := heard.Server(made[0].Spec.Server)
	return ClassOf(made[0]), WayOf(made[0], r)
}
