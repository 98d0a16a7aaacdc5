package plan

// SealVerdict is what is to be done about a BMC's credentials for its agent.
type SealVerdict string

// The verdicts.
const (
	SealNoAgent SealVerdict = "no-agent" // nobody to seal for
	SealNoKey   SealVerdict = "no-key"   // the agent has given no key yet
	SealKeep    SealVerdict = "keep"     // what was sealed is good
	SealNow     SealVerdict = "seal"     // seal, once
)

// Sealed is how far what was sealed for a BMC is good.
type Sealed string

// The values.
const (
	SealedNone    Sealed = "none"    // nothing, or for another agent, another key or another Secret
	SealedOlder   Sealed = "older"   // an earlier version of the Secret; it is sent until the next is there
	SealedPresent Sealed = "present" // the present version
)

// Seal decides. Sealing gives other bytes each time, so that it is done only where
// something has changed. The first row that fits decides.
//
//	agent | key | sealed  | verdict
//	no    | *   | *       | no-agent
//	yes   | no  | *       | no-key
//	yes   | yes | present | keep
//	yes   | yes | older   | seal
//	yes   | yes | none    | seal
func Seal(agent, key bool, have Sealed) SealVerdict {
	switch {
	case !agent:
		return SealNoAgent
	case !key:
		return SealNoKey
	case have == SealedPresent:
		return SealKeep
	default:
		return SealNow
	}
}
