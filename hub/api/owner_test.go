package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// owned is a hub with a claimed server, the admin, who may break glass, and the client
// ha, which may not.
func owned(t *testing.T) (h *apitest.Hub, admin, ha *protoapi.Client) {
	t.Helper()
	h = apitest.New(t)
	admin, ha = h.Client(t), h.ClientOf(t, apitest.ClientToken)
	if _, err := admin.Objects.Apply(t.Context(), append(storetest.Site(), storetest.Claim("c1", "n1")), false); err != nil {
		t.Fatal(err)
	}
	c, err := store.Get[*resource.Claim](h.Store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Server = "n1"
	if err := h.Store.Objects.Put(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return h, admin, ha
}

func place(t *testing.T, c *protoapi.Client, key string) *resource.Hold {
	t.Helper()
	h, err := c.Holds.Create(t.Context(), "n1", protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// V15: only its owner releases a hold, or somebody who may break glass, with a reason.
func TestOnlyTheOwnerReleases(t *testing.T) {
	h, admin, ha := owned(t)
	ctx := t.Context()
	theirs, mine := place(t, ha, "k"), place(t, admin, "k")
	if theirs.Spec.Owner != "ha" || mine.Spec.Owner != "admin" || theirs.Metadata.Name == mine.Metadata.Name {
		t.Fatalf("one key of two owners: %+v, %+v", theirs.Spec, mine.Spec)
	}
	for _, row := range []struct {
		name   string
		by     *protoapi.Client
		id     string
		reason string
		code   protocol.Code
		hint   string
	}{
		{"a stranger", ha, mine.Metadata.Name, "", protocol.CodeDenied, `"admin"`},
		{"a stranger with a reason", ha, mine.Metadata.Name, "I need it", protocol.CodeDenied, "break glass"},
		{"the admin without a reason", admin, theirs.Metadata.Name, "", protocol.CodeDenied, "--break-glass"},
		{"the admin with a blank one", admin, theirs.Metadata.Name, "  ", protocol.CodeDenied, "--break-glass"},
		{"a reason that is too long", admin, theirs.Metadata.Name, strings.Repeat("x", 1025), protocol.CodeInvalid, ""},
		{"no such hold", admin, "nosuch", "", protocol.CodeNotFound, "rackctl get holds"},
	} {
		_, err := row.by.Holds.Release(ctx, row.id, protoapi.ReleaseRequest{BreakGlass: row.reason})
		if protocol.CodeOf(err) != row.code || !strings.Contains(protocol.HintOf(err), row.hint) {
			t.Errorf("%s: %v, hint %q", row.name, err, protocol.HintOf(err))
		}
	}
	if n := len(h.Store.Holds.On("n1")); n != 2 {
		t.Fatalf("%d holds lie", n)
	}
	got, err := admin.Holds.Release(ctx, theirs.Metadata.Name, protoapi.ReleaseRequest{BreakGlass: " ha is gone "})
	if err != nil || got.Status.ReleasedBy != "admin" {
		t.Fatalf("%+v, %v", got, err)
	}
	if s, err := store.Get[*resource.Hold](h.Store.Objects, theirs.Metadata.Name); err != nil || s.Status.ReleaseReason != "ha is gone" {
		t.Errorf("%+v, %v", s, err)
	}
	// What is released stays released as it was, whoever asks.
	for _, c := range []*protoapi.Client{ha, admin} {
		if again, err := c.Holds.Release(ctx, theirs.Metadata.Name, protoapi.ReleaseRequest{BreakGlass: "again"}); err != nil || again.Status.ReleasedBy != "admin" {
			t.Errorf("%+v, %v", again, err)
		}
	}
	// The owner needs no body.
	if status, p, body := send(t, h, http.MethodPost, protoapi.PathRelease(mine.Metadata.Name), "Bearer "+apitest.Token, ""); status != http.StatusOK {
		t.Errorf("%d, %+v, %s", status, p, body)
	}
	if status, _, _ := send(t, h, http.MethodPost, protoapi.PathRelease(mine.Metadata.Name), "Bearer "+apitest.Token, `{"reason":"x"}`); status != http.StatusBadRequest {
		t.Errorf("an unknown field: %d", status)
	}
}

func TestConfirmDown(t *testing.T) {
	_, admin, ha := owned(t)
	ctx := t.Context()
	theirs, mine := place(t, ha, "k"), place(t, admin, "k")
	for _, row := range []struct {
		name   string
		by     *protoapi.Client
		hold   *resource.Hold
		reason string
		code   protocol.Code
	}{
		{"no reason", admin, mine, " ", protocol.CodeInvalid},
		{"of a stranger", ha, mine, "it is dark", protocol.CodeDenied},
		{"by its owner", ha, theirs, "PDU outlet 7 is off", ""},
		{"the same again", ha, theirs, "PDU outlet 7 is off", ""},
		{"another word", ha, theirs, "burnt", protocol.CodeConflict},
		{"by who may break glass", admin, mine, "both cables are out", ""},
	} {
		got, err := row.by.Holds.ConfirmDown(ctx, row.hold.Metadata.Name, protoapi.ConfirmRequest{Reason: row.reason})
		if protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %v", row.name, err)
		}
		if err == nil && (got.Status.ConfirmedDown == nil || got.Status.ConfirmedDown.Reason != row.reason || got.Status.ConfirmedDown.By != row.hold.Spec.Owner) {
			t.Errorf("%s: %+v", row.name, got.Status)
		}
	}
}

func TestDeleteClaimWithHolds(t *testing.T) {
	h, admin, ha := owned(t)
	ctx := t.Context()
	place(t, ha, "k")
	place(t, admin, "k")
	_, err := admin.Objects.DeleteClaim(ctx, "c1", "")
	wantCode(t, err, protocol.CodeConflict)
	_, err = ha.Objects.DeleteClaim(ctx, "c1", "rack goes")
	wantCode(t, err, protocol.CodeDenied)
	if n := len(h.Store.Holds.On("n1")); n != 2 {
		t.Fatalf("%d holds lie", n)
	}
	if c, err := admin.Objects.DeleteClaim(ctx, "c1", "rack & row go"); err != nil || c.Metadata.DeletedAt == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, hold := range store.List[*resource.Hold](h.Store.Objects) {
		if hold.Status.ReleaseReason != "rack & row go" || hold.Status.ReleasedBy != "admin" {
			t.Errorf("%+v", hold.Status)
		}
	}
	_, err = admin.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{AnyPhase: true})
	wantCode(t, err, protocol.CodeConflict) // the claim ends
}

func TestClientsAreChecked(t *testing.T) {
	const long = "0123456789abcdef0123456789abcdef"
	h := apitest.New(t)
	with := func(clients ...gate.Client) error {
		_, err := api.New(api.Config{
			Store: h.Store, Rooms: apitest.Rooms(h.Fleet), Token: long + "-admin", Clock: apitest.Now, NewID: func() string { return "id" },
			Registerer: prometheus.NewRegistry(), Callers: gate.Callers{Clients: clients},
		})
		return err
	}
	client := func(name, token string) gate.Client {
		return gate.Client{Caller: access.Caller{Name: name}, Token: token}
	}
	if err := with(client("ha", long), client("ops", long+"2")); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"admin":            with(client("admin", long)),
		"hub":              with(client("hub", long)),
		"expiry":           with(client("expiry", long)),
		"local":            with(client("local:root", long)),
		"no name":          with(client("", long)),
		"twice":            with(client("ha", long), client("ha", long+"2")),
		"the same token":   with(client("ha", long), client("ops", long)),
		"the admin's":      with(client("ha", long+"-admin")),
		"a token too weak": with(client("ha", long[1:])),
	} {
		if protocol.CodeOf(err) != protocol.CodeInvalid || strings.Contains(fmt.Sprint(err, protocol.HintOf(err)), long) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Each token is its own caller; none is nobody.
	for token, want := range map[string]int{apitest.Token: 200, apitest.ClientToken: 200, apitest.ClientToken[1:]: 401, "": 401, apitest.ClientToken + "x": 401} {
		if status, _, _ := send(t, h, http.MethodGet, protoapi.PathKind(resource.KindHold), "Bearer "+token, ""); status != want {
			t.Errorf("token %q: %d, want %d", token, status, want)
		}
	}
}
