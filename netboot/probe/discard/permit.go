package discard

import (
	"crypto/subtle"
	"net/url"
	"strings"

	"rackboot/netboot"
	"rackboot/protocol"
)

// The kernel arguments that permit it.
const (
	Argument       = "rackboot.discard"        // all: every disk; there is no other value
	ArgumentToken  = "rackboot.discard.token"  // that of the boot's URL
	ArgumentMethod = "rackboot.discard.method" // a [Method]; discard if it is not given
)

// Permit is the file of the boot that must have PermitText, which the environment renders:
// so it is served only to this server, and only while this boot is open.
const (
	Permit     = protocol.FileDiscard
	PermitText = "all"
)

// permitRule says whether disks may be discarded. The first row that fits decides. token is
// that of ArgumentToken, beside the token of the URL that the boot reports to; agent is
// that the agent, asked below that URL, has [Permit] with PermitText. The first makes that
// an image's own command line discards nothing, the second that one of a boot that has
// ended does not.
//
//	init | all | token | agent | answer
//	no   | *   | *     | *     | refused: it is done as init only, where no system uses the disks
//	yes  | no  | *     | *     | refused: the kernel's argument rackboot.discard is not all
//	yes  | yes | none  | *     | refused: there is no rackboot.discard.token, or no rackboot.url
//	yes  | yes | other | *     | refused: rackboot.discard.token is not the token of rackboot.url
//	yes  | yes | same  | no    | refused: the agent does not confirm it
//	yes  | yes | same  | yes   | permitted
func permitRule(first, all bool, token string, agent bool) string {
	switch {
	case !first:
		return "refused: it is done as init only, where no system uses the disks"
	case !all:
		return "refused: the kernel's argument " + Argument + " is not all"
	case token == tokenNone:
		return "refused: there is no " + ArgumentToken + ", or no rackboot.url"
	case token == tokenOther:
		return "refused: " + ArgumentToken + " is not the token of rackboot.url"
	case !agent:
		return "refused: the agent does not confirm it"
	}
	return "permitted"
}

// What the token of the kernel's argument is to that of the URL.
const (
	tokenNone  = "none"
	tokenOther = "other"
	tokenSame  = "same"
)

// Permitted says whether the disks may be discarded: base is the boot's URL among the
// kernel's arguments, first that the program is init, and ask reads a file below the URL.
// The agent is asked only where all else permits it. The error is denied.
func Permitted(first bool, given map[string]string, base string, ask func(file string) (string, error)) error {
	all, token := given[Argument] == "all", compare(given[ArgumentToken], base)
	answer := permitRule(first, all, token, true)
	if answer == "permitted" {
		said, err := ask(Permit)
		if err != nil {
			return protocol.Errorf(protocol.CodeDenied, "discard disks", "the agent does not confirm it: %w", err)
		}
		answer = permitRule(first, all, token, strings.TrimSpace(said) == PermitText)
	}
	if why, refused := strings.CutPrefix(answer, "refused: "); refused {
		return protocol.Errorf(protocol.CodeDenied, "discard disks", "%s", why).
			WithHint("boot the server into the boot environment decommission by a Maintenance")
	}
	return nil
}

func compare(token, base string) string {
	u, err := url.Parse(base)
	if err != nil || token == "" {
		return tokenNone
	}
	of, ok := strings.CutPrefix(u.Path, netboot.PathPrefix)
	of = strings.TrimSuffix(of, "/")
	switch {
	case !ok || of == "":
		return tokenNone
	case strings.Contains(of, "/"):
		return tokenOther // a folder below a boot's URL: the agent judges what lies at the top only
	case subtle.ConstantTimeCompare([]byte(of), []byte(token)) == 1:
		return tokenSame
	}
	return tokenOther
}
