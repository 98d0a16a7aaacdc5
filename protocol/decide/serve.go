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

// window is whether the server's attempt may be served now, and how.
type window string

const (
	windowClosed window = "closed" // nothing to boot from the network
	windowHTTP   window = "http"   // a UEFI HTTP boot was ordered and power requested
	windowTFTP   window = "tftp"   // likewise a PXE boot
)

func windowOf(target protocol.BootTarget) window {
	if target == protocol.TargetPxe {
		return windowTFTP
	}
	return windowHTTP
}

// fits says whether the client's firmware can run what is served: UEFI of the
// server's architecture, with the protocol that was ordered. Most clients say one
// type; which of several will be used, nobody knows, so that one which fits is enough.
func (w window) fits(c protocol.BootClient, architecture string) bool {
	return len(c.Archs) == 0 || slices.ContainsFunc(c.Archs, func(number uint16) bool {
		a, ok := protocol.ArchOf(number)
		return ok && a.Firmware == protocol.FirmwareUEFI && a.HTTP == (w == windowHTTP) && a.Fits(architecture)
	})
}

// Serve decides for one boot client. A machine of ours never gets silence: a
// refusal in its own form takes 4 s, silence 60 s per interface and protocol.
func Serve(s ServeSnapshot, c protocol.BootClient) protocol.BootAnswer {
	known := s.Synced && s.Server != "" && !s.Ambiguous
	w, open := windowClosed, false
	if a := s.Attempt; a.Open() && a.Network() {
		switch a.State {
		case protocol.AttemptPowerRequested, protocol.AttemptConsumed:
			w, open = windowOf(a.Intended), true
		case protocol.AttemptFetched:
			// Whoever asks again for an override that its BMC keeps is at the next boot;
			// the installer asks as an operating system.
			if open = true; a.Outcome != protocol.BootCoercedContinuous {
				w = windowOf(a.Intended)
			}
		case protocol.AttemptPreparing, protocol.AttemptArmed, protocol.AttemptSucceeded, protocol.AttemptFailed:
		}
	}
	action, reason := serveRule(known, s.Held || s.Missing, w, c.Class, w.fits(c, s.Architecture))
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
//	yes   | no   | tftp   | PXEClient  | yes  | boot
//	yes   | no   | tftp   | iPXE       | yes  | boot
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
	case w.asks(class) && fits:
		return protocol.AnswerBoot, "first boot granted"
	case w.asks(class):
		return protocol.AnswerRefuse, "architecture does not fit"
	case w != windowClosed:
		return protocol.AnswerRefuse, "another boot method was ordered"
	default:
		return protocol.AnswerRefuse, "no network boot is ordered"
	}
}

// asks says whether clients of the class boot by what was ordered. iPXE in the ROM of
// an interface takes the place of PXE.
func (w window) asks(class protocol.ClientClass) bool {
	switch class {
	case protocol.ClassHTTPClient:
		return w == windowHTTP
	case protocol.ClassPXEClient, protocol.ClassIPXE:
		return w == windowTFTP
	case protocol.ClassNone, protocol.ClassGRUB, protocol.ClassUBoot, protocol.ClassRaspberryPi:
	}
	return false
}
