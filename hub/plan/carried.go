package plan

import "rackboot/protocol/resource"

// Carried is what becomes of the proof of an installation that came with an export.
type Carried string

// The answers.
const (
	CarriedCounts Carried = "counts" // this hub's agents believe the signature
	CarriedAdopts Carried = "adopts" // it counts as the word of whoever imports it
	CarriedAsks   Carried = "asks"   // it does not count: the claim needs a decision
)

// proof is what an exported configuration has to show.
type proof string

const (
	proofNone   proof = "none"
	proofWord   proof = "word"   // somebody had adopted the server at the other hub
	proofSigned proof = "signed" // an agent's record
)

// signature is whose key has signed a record.
type signature string

const (
	signedOurs   signature = "ours"   // of an agent that served the rack at this hub
	signedFiles  signature = "file's" // of an agent of the other hub, by the export
	signedNobody signature = "nobody's"
)

// carriedRule judges a proof. The first row that fits decides.
//
//	network | proof  | fits | signature | accepted | answer
//	yes     | *      | *    | *         | *        | asks
//	no      | none   | *    | *         | *        | asks
//	no      | *      | no   | *         | *        | asks
//	no      | word   | yes  | *         | yes      | adopts
//	no      | signed | yes  | ours      | *        | counts
//	no      | signed | yes  | file's    | yes      | adopts
//	no      | *      | yes  | *         | *        | asks
//
// network is boot: Network, which boots from the network at each power-on and needs a
// grant of this hub. fits is that claim UID, generation, server, its UID and the image
// are those of the configuration. accepted is that whoever imports has named the key, or
// said that words count. An export is a file: nothing in it proves by itself who made it.
func carriedRule(network bool, p proof, fits bool, s signature, accepted bool) Carried {
	switch {
	case network, p == proofNone, !fits:
		return CarriedAsks
	case p == proofWord && accepted:
		return CarriedAdopts
	case p == proofSigned && s == signedOurs:
		return CarriedCounts
	case p == proofSigned && s == signedFiles && accepted:
		return CarriedAdopts
	}
	return CarriedAsks
}

// Proof is what was found out about an exported configuration's proof.
type Proof struct {
	// Record is the agent's record, its signature verified by Key; nil is none.
	Record *resource.Provisioned
	// Ours says that a key of this hub's rack signed it, Known that one of the export did.
	Ours, Known bool
	// Accepted says that whoever imports accepts the key, Words that words count.
	Accepted, Words bool
}

// Carry judges what an exported configuration has to show; server is as this hub has it.
func Carry(cfg *resource.BootConfiguration, server *resource.Server, p Proof) Carried {
	network := cfg.Spec.BootPolicy.Boot == resource.BootNetwork
	sig := signedNobody
	switch {
	case p.Ours:
		sig = signedOurs
	case p.Known:
		sig = signedFiles
	}
	if r := p.Record; r != nil {
		fits := r.OwnerUID == cfg.Spec.Owner.UID && r.Generation == cfg.Metadata.Generation && r.Server == cfg.Spec.Server &&
			r.ServerUID == server.Metadata.UID && r.ImageDigest == cfg.Spec.Image.Digest
		return carriedRule(network, proofSigned, fits, sig, p.Accepted)
	}
	if w := cfg.Status.Adopted; w != nil {
		return carriedRule(network, proofWord, w.ImageDigest == cfg.Spec.Image.Digest, sig, p.Words)
	}
	return carriedRule(network, proofNone, false, sig, false)
}
