package tftp

// room says what a request finds.
type room string

const (
	roomFree   room = "free"
	roomClient room = "client" // this client has as many transfers as it may
	roomTotal  room = "total"  // so has the server, and it may wait for its turn
	roomFull   room = "full"   // and as many wait as may
)

// outcome is what becomes of a packet to the server's port.
type outcome string

const (
	outcomeServe     outcome = "serve"
	outcomeStray     outcome = "stray"     // silence
	outcomeRate      outcome = "rate"      // silence
	outcomeMalformed outcome = "malformed" // ERROR 4
	outcomeWrite     outcome = "write"     // ERROR 2
	outcomeRepeated  outcome = "repeated"  // silence
	outcomeMode      outcome = "mode"      // ERROR 0
	outcomeName      outcome = "name"      // ERROR 1
	outcomeClient    outcome = "client"    // silence
	outcomeWait      outcome = "wait"      // silence until a transfer has ended
	outcomeTotal     outcome = "total"     // silence
)

// admit decides about a packet to the server's port. The first row that fits
// decides.
//
//	kind      | token | octet | named | repeated | room   | outcome
//	other     | *     | *     | *     | *        | *      | stray
//	*         | no    | *     | *     | *        | *      | rate
//	malformed | *     | *     | *     | *        | *      | malformed
//	write     | *     | *     | *     | *        | *      | write
//	read      | yes   | no    | *     | *        | *      | mode
//	read      | yes   | yes   | no    | *        | *      | name
//	read      | yes   | yes   | yes   | yes      | *      | repeated
//	read      | yes   | yes   | yes   | no       | client | client
//	read      | yes   | yes   | yes   | no       | total  | wait
//	read      | yes   | yes   | yes   | no       | full   | total
//	read      | yes   | yes   | yes   | no       | free   | serve
//
// What is no request is never answered: an ERROR for an ERROR could go on for ever.
// A repeated request has a transfer already, which sends its first packet again by
// itself, or waits for one. Where there is no room the client gets silence, not an
// ERROR: an ERROR ends firmware's boot at once, and without an answer EDK2 asks again,
// six times every 4 s, while transfers end. Who waits is served in the order of asking,
// as soon as one has ended. None that runs is ended for a newer one.
func admit(k kind, token, octet, named, repeated bool, r room) outcome {
	switch {
	case k == kindOther:
		return outcomeStray
	case !token:
		return outcomeRate
	case k == kindMalformed:
		return outcomeMalformed
	case k == kindWrite:
		return outcomeWrite
	case !octet:
		return outcomeMode
	case !named:
		return outcomeName
	case repeated:
		return outcomeRepeated
	case r == roomClient:
		return outcomeClient
	case r == roomTotal:
		return outcomeWait
	case r == roomFull:
		return outcomeTotal
	default:
		return outcomeServe
	}
}

// refusal is the ERROR of an outcome; nil is silence.
func (o outcome) refusal() []byte {
	switch o {
	case outcomeMalformed:
		return errorPacket(errIllegal, "malformed request")
	case outcomeWrite:
		return errorPacket(errAccess, "read only")
	case outcomeMode:
		return errorPacket(errUndefined, "only mode octet is served")
	case outcomeName:
		return errorPacket(errNotFound, "file not found")
	default:
		return nil
	}
}
