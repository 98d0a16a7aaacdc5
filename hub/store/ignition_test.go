package store

import (
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func userData(name, content string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{resource.SecretUserData: resource.Plain(content)}}}
	s.Metadata.Name = name
	s.Default()
	return s
}

func claimOf(secret string) *resource.Claim {
	c := storetest.Claim("c1", "n1")
	c.Spec.IgnitionSecretRef = &resource.Ref{Name: secret}
	return c
}

// A claim names a Secret of user data that there is, which is not deleted then; what is
// wrong with the data is said by its path.
func TestUserDataReferences(t *testing.T) {
	s, _ := withVault(t)
	apply(t, s, storetest.Site()...)
	refused(t, s, `Secret "none" does not exist`, claimOf("none"))
	refused(t, s, "is of type bmc-credentials, not ignition", claimOf("bmc"), bmcSecret("bmc", "x"))
	s.Secrets.checkIgnition = func(data []byte) protocol.FieldErrors {
		if strings.HasPrefix(string(data), "bad") {
			return protocol.FieldErrors{{Path: "$.storage.files[0].path", Message: "path not absolute"}}
		}
		return nil
	}
	refused(t, s, "at $.storage.files[0].path: path not absolute", userData("node", "bad"))
	apply(t, s, userData("node", "good"), claimOf("node"))
	_, err := s.Delete(t.Context(), resource.KindSecret, "node")
	if wantCode(t, err, protocol.CodeConflict); !strings.Contains(err.Error(), "Claim/c1") {
		t.Errorf("%v", err)
	}

	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS", Boot: resource.MaintenanceBoot{Image: "r/fw:1", IgnitionSecretRef: &resource.Ref{Name: "none"}},
	}}
	m.Metadata.Name = "m1"
	m.Default()
	refused(t, s, `Secret "none" does not exist`, m)
	m.Spec.Boot.IgnitionSecretRef = &resource.Ref{Name: "bmc"}
	refused(t, s, "is of type bmc-credentials, not ignition", m, bmcSecret("bmc", "x"))
	m.Spec.Boot.IgnitionSecretRef = &resource.Ref{Name: "node"}
	apply(t, s, m)
	if who := s.Secrets.Users("node"); !slices.Equal(who, []string{"Claim/c1", "Maintenance/m1"}) {
		t.Errorf("used by %v", who)
	}
}

// What was sealed is kept until its configuration is gone, and found by its digest for
// its agent alone.
func TestSealedIgnition(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Owner: resource.Owner{UID: "u"}, Ignition: &resource.IgnitionRef{Secret: "node"}}}
	cfg.Metadata.Name, cfg.Metadata.UID = "c1", "u1"
	cfg.Default()
	if err := s.Objects.Put(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	v := &SealedIgnition{Config: "c1", Agent: "r1-1", IgnitionIntent: message.IgnitionIntent{Secret: "node", Sealed: "sha256:a"}, Body: []byte("x")}
	for range 2 {
		if err := s.Ignitions.Put(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, s.Ignitions.Put(t.Context(), &SealedIgnition{Config: "c1"}), protocol.CodeConflict)
	wantCode(t, s.Ignitions.Put(t.Context(), &SealedIgnition{Config: "a b"}), protocol.CodeInvalid)
	if err := s.Ignitions.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, open(t, mem)} {
		for _, row := range []struct {
			agent, sealed string
			found         bool
		}{{"r1-1", "sha256:a", true}, {"r1-2", "sha256:a", false}, {"r1-1", "sha256:b", false}, {"r1-1", "", false}, {"", "sha256:a", false}} {
			if got := s.Ignitions.For(row.agent, row.sealed); (got != nil) != row.found || row.found && string(got.Body) != "x" {
				t.Errorf("%q for %q: %+v", row.sealed, row.agent, got)
			}
		}
	}
	if err := s.Objects.Remove(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := s.Ignitions.Sweep(t.Context()); err != nil || s.Ignitions.Peek("c1") != nil {
		t.Errorf("it is still there: %v", err)
	}
}
