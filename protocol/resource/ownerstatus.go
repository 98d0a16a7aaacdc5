package resource

import "rackboot/protocol"

// Of is the status as it is for an owner: without what is left of another one, whose boots the
// history shows (events, the audit log, a trace). The owner is a UID; empty is nobody. A server
// whose agent says that an owner did not let it go is that owner's still.
//
// A test has each field, and says whether it is of the server or of the owner.
func (s ServerStatus) Of(owner string) ServerStatus {
	if owner == "" && s.Report != nil && s.Report.Unreleased != nil {
		owner = s.Report.Unreleased.OwnerUID
	}
	if owner == "" {
		s.Claim, s.BootEnv, s.BootEnvOf, s.OS, s.EvidenceClass, s.Secrets = "", "", "", "", "", ""
	}
	s.Report = s.Report.Of(owner)
	return s
}

// Of is the report as it is for an owner; the report itself is left alone.
func (r *ServerReport) Of(owner string) *ServerReport {
	if r == nil {
		return nil
	}
	own := *r
	own.Provisioned = nil                   // its configuration shows it; of whom it is stands in what is signed
	if owner == "" || r.OwnerUID != owner { // nobody's, or the agent has not heard of the owner yet
		own.OwnerUID, own.BootGeneration, own.ArtefactsLocal, own.Released = "", 0, false, false
		own.LastPoweredOn, own.Env, own.Fallback = nil, nil, nil
	}
	if a := r.Attempt; a != nil && (owner == "" || a.OwnerUID != owner) {
		own.Attempt = nil
	}
	if f := r.Firmware; f != nil && (owner == "" || f.OwnerUID != owner) {
		own.Firmware = nil
	}
	own.Image = imageOf(r.Image, owner)
	return &own
}

// imageOf is what an image has reported of an owner's boot, and found in the server.
func imageOf(i *protocol.ImageReport, owner string) *protocol.ImageReport {
	if i == nil || owner != "" && i.OwnerUID == owner {
		return i
	}
	if i.Digest == "" {
		return nil
	}
	return &protocol.ImageReport{InventoryAt: i.InventoryAt, Digest: i.Digest, Bytes: i.Bytes, Inventory: i.Inventory}
}
