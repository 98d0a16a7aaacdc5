package apitest

import (
	"maps"

	"rackboot/protocol"
)

// SetISO says whether the agent of a certificate may fetch the content of a digest.
func (f *CannedFleet) SetISO(agent, digest string, may bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isos[agent] == nil {
		set(&f.isos, agent, map[string]bool{})
	}
	f.isos[agent][digest] = may
}

// MayFetchISO implements Fleet.
func (f *CannedFleet) MayFetchISO(certificate, digest string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if certificate != "" && f.isos[certificate][digest] {
		return nil
	}
	return protocol.Errorf(protocol.CodeDenied, "fetch file", "no document of the agent names it").WithHint("it is for another agent")
}

// ISODigests are what agents may fetch.
func (f *CannedFleet) ISODigests() (map[string]bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]bool{}
	for _, digests := range f.isos {
		maps.Copy(out, digests)
	}
	return out, nil
}
