package fleet

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fate is what goes wrong at servers. One that was given to agents is not changed.
type fate struct {
	seed   uint64
	fails  float64              // percent of the boots from the network
	code   resource.AttemptCode // how they fail
	silent float64              // percent of the servers, whose BMCs answer nothing
}

// failures are how boots may fail here, and whether the image was fetched by then: the grant is used up then, as it
// is at an agent.
var failures = []struct {
	code    resource.AttemptCode
	fetched bool
}{
	{resource.AttemptNoDHCP, false},
	{resource.AttemptOverrideIgnored, false},
	{resource.AttemptFetchFailed, false},
	{resource.AttemptNoReport, true},
	{resource.AttemptImageFailed, true},
}

func parseFailure(text string) (resource.AttemptCode, error) {
	var words []string
	for _, f := range failures {
		if string(f.code) == text {
			return f.code, nil
		}
		words = append(words, string(f.code))
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "read how boots fail", "%q is not one of %q", text, words)
}

// draws says whether a lot is within a percentage.
func (f *fate) draws(percent float64, words ...string) bool {
	return 100*lot(f.seed, words...) < percent
}

func (f *fate) fetched() bool {
	for _, k := range failures {
		if k.code == f.code {
			return k.fetched
		}
	}
	return false
}
