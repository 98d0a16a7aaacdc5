package site

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The worst system has the exit code.
func TestUnready(t *testing.T) {
	of := func(all ...resource.Readiness) (out []api.Probed) {
		for _, r := range all {
			out = append(out, api.Probed{Verdict: resource.Verdict{Ready: r}})
		}
		return out
	}
	doctable.Of(t, "probeexit.go", "unready").HoldOne(t, [][]string{doctable.Words(resource.Readinesses()...)}, func(in []string) string {
		if err := unready(of(resource.Readiness(in[0]))); err != nil {
			return string(protocol.CodeOf(err))
		}
		return "nothing"
	})
	if got := protocol.CodeOf(unready(of(resource.Ready, resource.NotReady, resource.ReadyOnceSet))); got != protocol.CodeUnsupported {
		t.Errorf("of three: %s", got)
	}
	if err := unready(nil); err != nil {
		t.Errorf("of none: %v", err)
	}
}
