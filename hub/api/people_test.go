package api_test

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/people"
	"rackboot/hub/store/storetest"
	"rackboot/integration/identity"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A person that the provider vouches for does what the groups may, under a name of its own in holds and in the
// audit log; and whoever has a token of the hub's file does not notice when the provider is gone.
func TestPersons(t *testing.T) {
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"ops"}}, identity.User{Name: "bob", Email: "bob@example.com", Groups: []string{"staff"}})
	who, err := people.New(people.Config{
		Issuer: p.URL, ClientID: identity.ClientID, Client: p.Client(), Clock: time.Now,
		Groups: []people.Group{{Name: "ops", Roles: []access.Role{access.Fencer}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := apitest.NewWith(t, func(c *api.Config) { c.People = who })
	ada := h.ClientOf(t, p.Sign(t, p.Claims("ada")))
	p.Away(true)
	if _, err := ada.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), p.URL) {
		t.Errorf("the provider is away: %v", err)
	}
	if me, err := h.ClientOf(t, apitest.TokenOf("viewer")).Whoami(t.Context()); err != nil || me.Name != "viewer" || me.Issuer != "" {
		t.Errorf("a client of the file meanwhile: %+v, %v", me, err)
	}
	if at, err := h.ClientOf(t, "").Login(t.Context()); err != nil || at != (protoapi.Login{Issuer: p.URL, ClientID: identity.ClientID}) {
		t.Errorf("how persons log in: %+v, %v", at, err)
	}
	if at, err := apitest.New(t).ClientOf(t, "").Login(t.Context()); err != nil || at != (protoapi.Login{}) {
		t.Errorf("where they cannot: %+v, %v", at, err)
	}
	p.Away(false)
	again, err := people.New(people.Config{Issuer: p.URL, ClientID: identity.ClientID, Client: p.Client(), Clock: time.Now, Groups: []people.Group{{Name: "ops", Roles: []access.Role{access.Fencer}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h = apitest.NewWith(t, func(c *api.Config) { c.People = again })
	if _, err := h.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	ada = h.ClientOf(t, p.Sign(t, p.Claims("ada")))
	bob := h.ClientOf(t, p.Sign(t, p.Claims("bob")))
	me, err := ada.Whoami(t.Context())
	if err != nil || me.Name != "oidc:ada@example.com" || me.Issuer != p.URL || me.Subject != "ada" || strings.Join(me.Roles, ",") != "fencer" {
		t.Fatalf("%+v, %v", me, err)
	}
	if _, err := bob.Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), "in no group") {
		t.Errorf("a person without a group: %v", err)
	}
	hold, err := ada.Holds.Create(t.Context(), "n1", protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k"}})
	if err != nil || hold.Spec.Owner != "oidc:ada@example.com" {
		t.Fatalf("%+v, %v", hold, err)
	}
	if _, err := h.ClientOf(t, apitest.TokenOf("fencer")).Holds.Release(t.Context(), hold.Metadata.Name, protoapi.ReleaseRequest{}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("released by another: %v", err)
	}
	if got, err := ada.Holds.Release(t.Context(), hold.Metadata.Name, protoapi.ReleaseRequest{}); err != nil || got.Status.ReleasedBy != "oidc:ada@example.com" {
		t.Errorf("%+v, %v", got, err)
	}
	noted := false
	for _, e := range h.Records.Entries() {
		if e.Op == "hold" {
			noted = true
			if e.Caller != "oidc:ada@example.com" || e.Issuer != p.URL || e.Subject != "ada" {
				t.Errorf("%+v", e)
			}
		}
	}
	if !noted {
		t.Error("the hold is not in the audit log")
	}
	if _, err := h.ClientOf(t, "a.b.c").Whoami(t.Context()); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("what only looks like a token: %v", err)
	}
}
