package chain

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

// The kernel is told where its user data is, if it has any, and of the two URLs the one
// for reports last; user data itself is no file of a chain, whoever asks by whatever
// protocol.
func TestIgnition(t *testing.T) {
	const base = "http://10.20.0.2:8080"
	for _, kind := range []protocol.ChainKind{protocol.ChainGRUB, protocol.ChainIPXE, protocol.ChainUKI} {
		for _, has := range []bool{true, false} {
			c := protocol.BootChain{Kind: kind, CommandLine: "quiet", Ignition: has}
			for _, text := range []string{Config(c, base, attempt), Script(c, base, attempt)} {
				at := strings.Index(text, ArgumentIgnition+"="+base+"/b/"+attempt+"/ignition")
				if (at >= 0) != has || has && at > strings.Index(text, ArgumentURL+"=") {
					t.Errorf("%s: user data %t:\n%s", kind, has, text)
				}
			}
			for _, name := range []string{protocol.FileIgnition, "/" + protocol.FileIgnition, "x/" + protocol.FileIgnition, "IGNITION"} {
				if _, ok := Lookup(c, base, attempt, name); ok {
					t.Errorf("%s is a file of chain %s", name, kind)
				}
			}
		}
	}
}
