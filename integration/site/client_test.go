package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestClientOfTheFile: a client of the hub's file owns its holds, and the admin does
// not release them by mistake.
func TestClientOfTheFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	token := strings.Repeat("0123456789abcdef", 2)
	file := filepath.Join(s.dir, "ha.token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.hub.Clients = []hubdaemon.Client{{Name: "ha", TokenFile: file}}
	s.startHub()
	s.apply(s.manifests()...)
	ha, err := api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.ca(), Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer ha.CloseIdle()
	h, err := ha.Holds.Create(t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k"}})
	if err != nil || h.Spec.Owner != "ha" {
		t.Fatalf("%+v, %v", h, err)
	}
	if _, err := s.client.Holds.Release(t.Context(), h.Metadata.Name, api.ReleaseRequest{}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("released by the admin without a reason: %v", err)
	}
	if got, err := ha.Holds.Release(t.Context(), h.Metadata.Name, api.ReleaseRequest{}); err != nil || got.Status.ReleasedBy != "ha" {
		t.Errorf("%+v, %v", got, err)
	}
}
