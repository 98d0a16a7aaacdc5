package status

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func TestDoctorTable(t *testing.T) {
	var all []resource.ConditionCode
	for _, c := range resource.Conditions() {
		all = append(all, c.Code)
	}
	yes := map[bool]string{true: "yes", false: "no"}
	doctable.Of(t, "doctor.go", "doctorRule").Hold(t, [][]string{doctable.Words(all...)}, func(in []string) []string {
		blocks, told := doctorRule(resource.ConditionCode(in[0]))
		return []string{yes[told], yes[blocks]}
	})
}
