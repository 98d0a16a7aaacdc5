package decide

import (
	"slices"

	"rackboot/protocol"
)

// ServeSnapshot is what the answer to one boot client depends on.
type ServeSnapshot struct {
	Synced    bool
	Server    string // empty: no server of ours
	Ambiguous bool   // more than one server fits
	Held      bool
	// Missing says that the newest document leaves the server out: it is refused as
	// if it were held, because nobody says any more what it may boot (P1).
	Missing bool
	Attempt *Attempt
	// Architecture is the server's: amd64 or arm64.
	Architecture string
}

// window is whether the server's attempt may be served now.
type window string

const (
	windowClosed window = "closed" // nothing to boot from the network
	windowHTTP   window = "http"   // a UEFI HTTP boot was ordered and power requested
)

// Architecture types of UEFI HTTP boot clients (IANA processor architecture
// types; 17 is EBC, which some x64 firmware sends: errata 4624 of RFC 4578).
func httpArchs(architecture string) []uint16 {
	switch architecture {
	case "amd64":
		return []uint16{16, 17}
	case "arm64":
		return []uint16{19}
	}
	return nil
}

// Serve decides for one boot client. A machine of ours never gets silence: a
// refusal in its own form takes 4 s, silence 60 s per interface and protocol.
func Serve(s ServeSnapshot, c protocol.BootClient) protocol.BootAnswer {
	known := s.Synced && s.Server != "" && !s.Ambiguous
	w, open := windowClosed, false
	if a := s.Attempt; a.Open() && a.Intended == protocol.TargetUefiHTTP {
		switch a.State {
		case protocol.AttemptPowerRequested, protocol.AttemptConsumed:
			w, open = windowHTTP, true
		case protocol.AttemptFetched:
			// Whoever asks again for an override that its BMC keeps is at the next boot;
			// the installer asks as an operating system.
			if open = true; a.Outcome != protocol.BootCoercedContinuous {
				w = windowHTTP
			}
		case protocol.AttemptPreparing, protocol.AttemptArmed, protocol.AttemptSucceeded, protocol.AttemptFailed:
		}
	}
	fits := len(c.Archs) == 0 || slices.ContainsFunc(c.Archs, func(a uint16) bool {
		return slices.Contains(httpArchs(s.Architecture), a)
	})
	action, reason := serveRule(known, s.Held || s.Missing, w, c.Class, fits)
	answer := protocol.BootAnswer{Action: action, Server: s.Server, Reason: reason}
	if open && !s.Held && !s.Missing && (action == protocol.AnswerBoot || action == protocol.AnswerLease) {
		answer.Token = s.Attempt.Token
		answer.File = s.Attempt.File
	}
	return answer
}

// serveRule is the serve gate. The first row that fits decides.
//
//	known | held | window | class      | fits | answer
//	no    | *    | *      | *          | *    | silence
//	yes   | *    | *      | none       | *    | lease
//	yes   | yes  | *      | *          | *    | refuse
//	yes   | no   | http   | HTTPClient | yes  | boot
//	yes   | no   | *      | *          | *    | refuse
//
// A client without a boot class is an operating system; its lease is renewed
// whatever else is decided.
func serveRule(known, held bool, w window, class protocol.ClientClass, fits bool) (protocol.AnswerAction, string) {
	switch {
	case !known:
		return protocol.AnswerSilence, "no server of this rack"
	case class == protocol.ClassNone:
		return protocol.AnswerLease, "operating system"
	case held:
		return protocol.AnswerRefuse, "held"
	case w == windowHTTP && class == protocol.ClassHTTPClient && fits:
		return protocol.AnswerBoot, "first boot granted"
	case w == windowHTTP && class == protocol.ClassHTTPClient:
		return protocol.AnswerRefuse, "architecture does not fit"
	case w == windowHTTP:
		return protocol.AnswerRefuse, "another boot method was ordered"
	default:
		return protocol.AnswerRefuse, "no network boot is ordered"
	}
}
