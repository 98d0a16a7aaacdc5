package tpm

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/netboot/attest/enrol"
)

func TestRefusalTable(t *testing.T) {
	doctable.Of(t, "rule.go", "refusalOf").Hold(t,
		[][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), {"refused", "not refused"}, doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			f := facts{server: in[0] == "yes", identity: in[1] == "yes", fit: in[2] == "yes", origin: enrol.NoCertificate, other: in[4] == "yes", taken: in[5] == "yes"}
			if in[3] == "refused" {
				f.origin = enrol.OtherKey
			}
			if why := refusalOf(f); why != NoRefusal {
				return doctable.Words(why)
			}
			return []string{"none"}
		})
}
