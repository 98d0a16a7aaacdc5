package chain

import (
	"path"
	"strings"

	"rackboot/protocol"
)

// Found is what a name means to a boot.
type Found struct {
	// Digest is of a file that is kept; Text is rendered. One of them is empty.
	Digest, Text string
}

// asked is what a client asks for by a name.
type asked string

const (
	askedFile   asked = "file"   // one of the chain's files
	askedConfig asked = "config" // GRUB's configuration
	askedScript asked = "script" // iPXE's script
	askedOther  asked = "other"
)

// configName is GRUB's configuration; before it some ask for the same with the
// machine's UUID, MAC address or IP address behind it (net.c).
const configName = "grub.cfg"

// askedFor reads a clean name.
func askedFor(c protocol.BootChain, name string) asked {
	if _, ok := c.Digest(name); ok {
		return askedFile
	}
	switch base := strings.ToLower(path.Base(name)); {
	case base == configName, strings.HasPrefix(base, configName+"-"):
		return askedConfig
	case base == protocol.IPXEScript:
		return askedScript
	}
	return askedOther
}

// Lookup says what a boot has under a clean name, without a token; ok is false if it
// has nothing. Who asks is known, so that each of the names that GRUB tries first is
// as good as the last: it spares up to eleven misses. What shim asks for in vain
// (revocations, certificates, its MOK manager, names that it makes of a boot option's
// text) is not there.
func Lookup(c protocol.BootChain, base, token, name string) (f Found, ok bool) {
	what := askedFor(c, name)
	if !lookupRule(c.Kind, what) {
		return Found{}, false
	}
	switch what {
	case askedConfig:
		return Found{Text: Config(c, base, token)}, true
	case askedScript:
		return Found{Text: Script(c, base, token)}, true
	case askedFile, askedOther:
	}
	f.Digest, ok = c.Digest(name)
	return f, ok
}

// lookupRule says whether a boot has what is asked for. The first row that fits
// decides.
//
//	chain | asked  | has
//	*     | file   | yes
//	grub  | config | yes
//	grub  | script | yes
//	ipxe  | script | yes
//	*     | *      | no
//
// iPXE in the ROM of an interface asks for its script whatever the chain is.
func lookupRule(kind protocol.ChainKind, what asked) bool {
	switch what {
	case askedFile:
		return true
	case askedConfig:
		return kind == protocol.ChainGRUB
	case askedScript:
		return kind == protocol.ChainGRUB || kind == protocol.ChainIPXE
	case askedOther:
	}
	return false
}
