package attest

import (
	"maps"

	"rackboot/netboot/attest/quote"
	"rackboot/netboot/attest/seal"
	"rackboot/protocol"
)

// Code is why evidence does not prove the expected boot.
type Code string

// The codes. Whoever shows a difference makes a text of its code.
const (
	NotEnrolled      Code = "not-enrolled"        // the server has no attestation key, or nothing was expected
	UnreadableQuote  Code = "unreadable-quote"    // it is no quote, or of several banks
	WrongKey         Code = "wrong-key"           // another TPM, or another key, signed it
	BadSignature     Code = "bad-signature"       // it names the key, which did not sign it
	WrongNonce       Code = "wrong-nonce"         // it is an old one, or answers somebody else
	UnknownBank      Code = "unknown-bank"        // its PCRs are of another bank than was asked for
	NotQuoted        Code = "not-quoted"          // it is not of a PCR that has to be judged
	WrongValues      Code = "wrong-values"        // the values that came with it are not those it is of
	UnreadableLog    Code = "unreadable-log"      // the event log cannot be read, or has no such bank
	LogDoesNotReplay Code = "log-does-not-replay" // its events do not make the quoted value
	OtherPhase       Code = "other-phase"         // systemd measured another phase than may be

	SecureBootOff     Code = "secure-boot-off"
	SecureBootUnclear Code = "secure-boot-unclear" // PCR 7 does not begin with it, or says it twice
	DebugMode         Code = "debug-mode"          // firmware has a debugger
	OtherAuthority    Code = "other-authority"     // somebody else had signed what was started

	NoImageMeasured  Code = "no-image-measured"  // firmware started nothing that it measured
	OtherImage       Code = "other-image"        // another program ran
	MissingImage     Code = "missing-image"      // one of the expected did not
	OtherBootOption  Code = "other-boot-option"  // the expected one was not measured
	OtherSection     Code = "other-section"      // of a unified kernel image: Name is which
	OtherCommandLine Code = "other-command-line" // one took the place of the image's
	OtherExtension   Code = "other-extension"    // files from beside the image were added to its initrd
	OtherCommand     Code = "other-command"      // of GRUB, or another kernel's command line
	OtherFile        Code = "other-file"         // that GRUB read, or another initrd
	Unaccounted      Code = "unaccounted"        // something was measured that nothing explains

	Drifted Code = "drifted" // see Drift
)

// Codes lists the codes that Verify gives.
func Codes() []Code {
	return []Code{
		NotEnrolled, UnreadableQuote, WrongKey, BadSignature, WrongNonce, UnknownBank, NotQuoted, WrongValues, UnreadableLog, LogDoesNotReplay, OtherPhase,
		SecureBootOff, SecureBootUnclear, DebugMode, OtherAuthority, NoImageMeasured, OtherImage, MissingImage, OtherBootOption, OtherSection,
		OtherCommandLine, OtherExtension, OtherCommand, OtherFile, Unaccounted,
	}
}

// Difference is one thing that is not as expected.
type Difference struct {
	Code Code
	PCR  int // -1 if it is of none
	// Event is the number of the event in the log, from 0; -1 if there is none.
	Event int
	// Name is the expected item's, or what the log calls the event, which is a claim.
	Name           string
	Expected, Seen []byte // digests or values; nil if there is none
}

// Verdict is what evidence proves.
type Verdict struct {
	// Differences are sorted by PCR. A quote that does not count has one difference, of PCR -1,
	// and nothing else was judged.
	Differences []Difference
	// Quote is what some TPM said: the server's, unless a difference says otherwise. It is empty
	// if the quote cannot be read.
	Quote quote.Quote
	// Counted reports whether Quote.Clock.Resets and Quote.Firmware are the TPM's own numbers: the
	// key is in the endorsement hierarchy.
	Counted bool

	judged bool           // the log was held against what was expected
	values map[int][]byte // of the quoted PCRs
}

// Attested reports whether everything is as expected. The zero verdict is not attested.
func (v Verdict) Attested() bool { return v.judged && len(v.Differences) == 0 }

// Has reports whether a difference has the code.
func (v Verdict) Has(c Code) bool {
	for _, d := range v.Differences {
		if d.Code == c {
			return true
		}
	}
	return false
}

// Policy returns what a secret for this boot is sealed to: exactly the values that were just quoted,
// and the TPM's count of resets if it is known, so that the next start does not open the secret. The
// error has the code denied if the boot is not attested.
func (v Verdict) Policy() (seal.Policy, error) {
	if !v.Attested() {
		return seal.Policy{}, protocol.Errorf(protocol.CodeDenied, "seal to TPM", "the boot is not attested")
	}
	p := seal.Policy{Bank: v.Quote.Bank, Values: maps.Clone(v.values)}
	if v.Counted {
		p.Resets = &v.Quote.Clock.Resets
	}
	return p, nil
}
