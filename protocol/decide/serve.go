package decide

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ServeSnapshot is what the answer to one boot client depends on.
type ServeSnapshot struct {
	Synced    bool
	Aside     bool   // another agent has the same disk
	Server    string // empty: no server of ours
	Ambiguous bool   // more than one server fits
	Held      bool
	// Missing says that the newest document leaves the server out: it is refused as
	// if it were held, because nobody says any more what it may boot (P1).
	Missing bool
	Attempt *Attempt
	// Architecture is the server's: amd64 or arm64.
	Architecture string
	// Stop is the stop image that this client could be given; nil without one.
	Stop *StopOffer
	// Ordered says that an order of ours explains what the server does now.
	Ordered bool
	// Early says that its firmware cannot have come so far yet that it asks.
	Early bool
	// Claimed is what the client is beside those that asked before it.
	Claimed Claimed
}

// StopOffer is a stop image for one client.
type StopOffer struct{ Token, File string }

// window is whether the server's attempt may be served now, and how.
type window string

const (
	windowClosed window = "closed" // nothing to boot from the network
	windowHTTP   window = "http"   // a UEFI HTTP boot was ordered and power requested
	windowIPXE   window = "ipxe"   // likewise, by a chain in which iPXE asks once more
	windowTFTP   window = "tftp"   // likewise a PXE boot
	windowMedia  window = "media"  // likewise a boot by virtual media: firmware asks nobody
	windowAny    window = "any"    // a discovery, or network any: whatever firmware makes of the order
)

func windowOf(a *Attempt) window {
	m := methodOf(a.Order.Target)
	switch {
	case a.forDiscovery(), a.Order.Any:
		return windowAny
	case m.window == windowHTTP && a.Order.Chain != nil && a.Order.Chain.Kind == protocol.ChainIPXE:
		return windowIPXE
	}
	return m.window
}

// fits says whether the client's firmware can run what is served: UEFI of the
// server's architecture, with the protocol that was ordered. Most clients say one
// type; which of several will be used, nobody knows, so that one which fits is enough.
func (w window) fits(c protocol.BootClient, architecture string) bool {
	return len(c.Archs) == 0 || slices.ContainsFunc(c.Archs, func(number uint16) bool {
		a, ok := protocol.ArchOf(number)
		http := w != windowTFTP && c.Class != protocol.ClassIPXE // which says that it is PXE firmware, however it came
		if w == windowAny {
			http = c.Class == protocol.ClassHTTPClient
		}
		return ok && a.Firmware == protocol.FirmwareUEFI && a.HTTP == http && a.Fits(architecture)
	})
}

// Serve decides for one boot client. A machine of ours never gets silence: a
// refusal in its own form takes 4 s, silence 60 s per interface and protocol.
func Serve(s ServeSnapshot, c protocol.BootClient) protocol.BootAnswer {
	known := s.Synced && s.Server != "" && !s.Ambiguous
	w, open := windowClosed, false
	if a := s.Attempt; a.Open() && a.Network() {
		switch a.Stage.State {
		case resource.AttemptPowerRequested, resource.AttemptConsumed:
			w, open = windowOf(a), true
		case resource.AttemptFetched:
			// Whoever asks again for an override that its BMC keeps is at the next boot;
			// the installer asks as an operating system.
			if open = true; a.Stage.Arming.Outcome != protocol.BootCoercedContinuous {
				w = windowOf(a)
			}
		case resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptSucceeded, resource.AttemptFailed:
		}
	}
	by := windowHTTP
	if c.Class != protocol.ClassHTTPClient {
		by = windowTFTP
	}
	stop := s.Stop != nil && !s.Ordered && by.fits(c, s.Architecture)
	who := serveWho{early: s.Early, foreign: s.Claimed == ClaimedForeign}
	action, reason := serveRule(known, s.Aside, s.Held || s.Missing, who, w, c.Class, w.fits(c, s.Architecture), stop)
	if action == answerStop {
		return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: s.Server, Reason: reason, Token: s.Stop.Token, File: s.Stop.File}
	}
	if action == protocol.AnswerBoot && s.Attempt.PrivateURL() {
		// Firmware that has its URL from the BMC wants an address and nothing else.
		return protocol.BootAnswer{Action: protocol.AnswerLease, Server: s.Server, Reason: "its BMC has the URL"}
	}
	answer := protocol.BootAnswer{Action: action, Server: s.Server, Reason: reason}
	if open && !s.Held && !s.Missing && (action == protocol.AnswerBoot || action == protocol.AnswerLease) {
		answer.Token = s.Attempt.Token
		answer.File = s.Attempt.Order.fileFor(c.Class)
	}
	return answer
}

// answerStop is to give the stop image, as a boot of its own.
const answerStop protocol.AnswerAction = "stop"

// serveRule is the serve gate. The first row that fits decides.
//
//	known | aside | held | early | foreign | window | class      | fits | stop | answer
//	no    | *     | *    | *     | *       | *      | *          | *    | *    | silence
//	yes   | *     | *    | *     | *       | *      | none       | *    | *    | lease
//	yes   | yes   | *    | *     | *       | *      | *          | *    | *    | silence
//	yes   | no    | yes  | *     | *       | *      | *          | *    | *    | refuse
//	yes   | no    | no   | *     | *       | closed | HTTPClient | *    | yes  | stop
//	yes   | no    | no   | *     | *       | closed | PXEClient  | *    | yes  | stop
//	yes   | no    | no   | *     | *       | closed | iPXE       | *    | yes  | stop
//	yes   | no    | no   | *     | *       | closed | *          | *    | *    | refuse
//	yes   | no    | no   | yes   | *       | *      | *          | *    | *    | silence
//	yes   | no    | no   | no    | yes     | *      | *          | *    | *    | refuse
//	yes   | no    | no   | no    | no      | http   | HTTPClient | yes  | *    | boot
//	yes   | no    | no   | no    | no      | ipxe   | HTTPClient | yes  | *    | boot
//	yes   | no    | no   | no    | no      | ipxe   | iPXE       | yes  | *    | boot
//	yes   | no    | no   | no    | no      | tftp   | PXEClient  | yes  | *    | boot
//	yes   | no    | no   | no    | no      | tftp   | iPXE       | yes  | *    | boot
//	yes   | no    | no   | no    | no      | any    | HTTPClient | yes  | *    | boot
//	yes   | no    | no   | no    | no      | any    | PXEClient  | yes  | *    | boot
//	yes   | no    | no   | no    | no      | any    | iPXE       | yes  | *    | boot
//	yes   | no    | no   | no    | no      | *      | *          | *    | *    | refuse
//
// aside is that another agent has the same disk: what the one has ordered, the other does not know, and
// neither answers firmware.
// stop is that the rack wants a stop image for such machines, that there is one which
// the client can load, and that no order explains why it asks: one that was to boot its
// disk, and asks the network all the same, is refused and goes on to its disk. A held
// server gets none: it is to be Off, and nothing that it boots is to run (P2).
// early is that the BMC has not taken the order to start the server, or only just: whoever
// asks is not its firmware. Firmware that is quicker than ever asks again within seconds; a
// refusal would send it on to its disk. foreign is that the client does not fit what is known
// of the server.
// A client without a boot class is an operating system; its lease is renewed
// whatever else is decided.
func serveRule(known, aside, held bool, who serveWho, w window, class protocol.ClientClass, fits, stop bool) (protocol.AnswerAction, string) {
	switch {
	case !known:
		return protocol.AnswerSilence, "no server of this rack"
	case class == protocol.ClassNone:
		return protocol.AnswerLease, "operating system"
	case aside:
		return protocol.AnswerSilence, "another agent has the same disk"
	case held:
		return protocol.AnswerRefuse, "held"
	case w == windowClosed && stop && (windowHTTP.asks(class) || windowTFTP.asks(class)):
		return answerStop, "no boot is ordered: the stop image"
	case w == windowClosed:
		return protocol.AnswerRefuse, "no network boot is ordered"
	case who.early:
		return protocol.AnswerSilence, "the server was not started yet, or only just"
	case who.foreign:
		return protocol.AnswerRefuse, "it is not the machine that the server is known as"
	case w.asks(class) && fits:
		return protocol.AnswerBoot, "first boot granted"
	case w.asks(class):
		return protocol.AnswerRefuse, "architecture does not fit"
	}
	return protocol.AnswerRefuse, "another boot method was ordered"
}

// serveWho is what is known of who asks.
type serveWho struct{ early, foreign bool }

// asks says whether clients of the class boot by what was ordered. iPXE in the ROM of
// an interface takes the place of PXE.
func (w window) asks(class protocol.ClientClass) bool {
	switch class {
	case protocol.ClassHTTPClient:
		return w == windowHTTP || w == windowIPXE || w == windowAny
	case protocol.ClassPXEClient:
		return w == windowTFTP || w == windowAny
	case protocol.ClassIPXE:
		return w == windowTFTP || w == windowIPXE || w == windowAny
	case protocol.ClassNone, protocol.ClassGRUB, protocol.ClassUBoot, protocol.ClassRaspberryPi:
	}
	return false
}
