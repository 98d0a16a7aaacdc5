package status

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func TestEvidenceTable(t *testing.T) {
	class := func(s string) resource.EvidenceClass {
		if s == "none" {
			return noEvidence
		}
		return resource.EvidenceClass(s)
	}
	records := append(doctable.Words(resource.EvidenceOf(resource.PurposeClaim)...), "none")
	doctable.Of(t, "evidence.go", "evidenceRule").HoldOne(t, [][]string{records, doctable.Words(wordNone, wordSaid, wordImported)}, func(in []string) string {
		if got := evidenceRule(class(in[0]), word(in[1])); got != noEvidence {
			return string(got)
		}
		return "none"
	})
}

// What is shown of a configuration: by its record, a word, and the last attempt by it.
func TestEvidenceOfConfigurations(t *testing.T) {
	record := func(class resource.EvidenceClass, way resource.SecretsWay) *resource.Provisioned {
		return &resource.Provisioned{OwnerUID: "u1", Generation: 2, Class: class, Secrets: way}
	}
	attempt := func(owner string, generation uint64, way resource.SecretsWay) *resource.ServerReport {
		return &resource.ServerReport{OwnerUID: "u1", Attempt: &resource.AttemptReport{OwnerUID: owner, Generation: generation, Secrets: way}}
	}
	for _, row := range []struct {
		name   string
		status resource.BootConfigurationStatus
		report *resource.ServerReport
		class  resource.EvidenceClass
		way    resource.SecretsWay
	}{
		{"nothing yet", resource.BootConfigurationStatus{}, nil, "", ""},
		{"not heard of", resource.BootConfigurationStatus{}, &resource.ServerReport{OwnerUID: "u1"}, "", ""},
		{"a record of before there were classes", resource.BootConfigurationStatus{Provisioned: record("", "")}, nil, resource.EvidenceReported, ""},
		{"reported", resource.BootConfigurationStatus{Provisioned: record(resource.EvidenceReported, resource.SecretsSegment)}, nil, resource.EvidenceReported, resource.SecretsSegment},
		{"observed", resource.BootConfigurationStatus{Provisioned: record(resource.EvidenceObserved, resource.SecretsBMC)}, nil, resource.EvidenceObserved, resource.SecretsBMC},
		{"adopted", resource.BootConfigurationStatus{Adopted: &resource.Adopted{By: "ann"}}, nil, resource.EvidenceReported, ""},
		{"adopted, and recorded after all", resource.BootConfigurationStatus{Adopted: &resource.Adopted{By: "ann"}, Provisioned: record(resource.EvidenceObserved, resource.SecretsBMC)}, nil, resource.EvidenceObserved, resource.SecretsBMC},
		{"imported with its record", resource.BootConfigurationStatus{Adopted: &resource.Adopted{By: "ann", Key: "k"}, Provisioned: record(resource.EvidenceObserved, resource.SecretsBMC)}, nil, resource.EvidenceReported, ""},
		{"imported by a word", resource.BootConfigurationStatus{Adopted: &resource.Adopted{By: "ann", Key: "k"}}, nil, resource.EvidenceReported, ""},
		{"the first attempt", resource.BootConfigurationStatus{}, attempt("u1", 2, resource.SecretsBMC), "", resource.SecretsBMC},
		{"a later attempt another way", resource.BootConfigurationStatus{Provisioned: record(resource.EvidenceObserved, resource.SecretsBMC)}, attempt("u1", 2, resource.SecretsSegment), resource.EvidenceObserved, resource.SecretsSegment},
		{"a boot from disk", resource.BootConfigurationStatus{Provisioned: record(resource.EvidenceObserved, resource.SecretsBMC)}, attempt("u1", 2, ""), resource.EvidenceObserved, resource.SecretsBMC},
		{"the attempt of an earlier owner", resource.BootConfigurationStatus{}, attempt("u0", 2, resource.SecretsSegment), "", ""},
		{"the attempt of an earlier generation", resource.BootConfigurationStatus{}, attempt("u1", 1, resource.SecretsSegment), "", ""},
		{"the attempt of who knows whom", resource.BootConfigurationStatus{}, attempt("", 0, resource.SecretsSegment), "", ""},
	} {
		b := &resource.BootConfiguration{Status: row.status}
		b.Spec.Owner.UID, b.Metadata.Generation = "u1", 2
		if class, way := ClassOf(b), WayOf(b, row.report); class != row.class || way != row.way {
			t.Errorf("%s: %q by %q, want %q by %q", row.name, class, way, row.class, row.way)
		}
	}
}
