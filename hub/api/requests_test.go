package api_test

import (
	"context"
	"slices"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// One that no agent was given ends at once; of another the agent says what became of it. What has
// ended stays as it ended, and who may not ask may not take back.
func TestCancelRequests(t *testing.T) {
	h, admin, _ := owned(t)
	ctx := t.Context()
	ask := func() string {
		t.Helper()
		r, err := admin.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{})
		if err != nil || !r.Taken {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.ID
	}
	change := func(id string, change func(q *resource.Request, r *resource.RequestReport)) {
		t.Helper()
		r, err := h.Store.Requests.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		change(&r.Request, &r.Report)
		if err := h.Store.Requests.Put(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	unsent, given, ended := ask(), ask(), ask()
	change(given, func(q *resource.Request, _ *resource.RequestReport) { q.Incarnation = "i" })
	change(ended, func(_ *resource.Request, r *resource.RequestReport) { r.Outcome = resource.OutcomeDone })
	_, err := h.ClientOf(t, apitest.TokenOf("operator")).Requests.Cancel(ctx, unsent)
	wantCode(t, err, protocol.CodeDenied)
	_, err = admin.Requests.Cancel(ctx, "none")
	wantCode(t, err, protocol.CodeNotFound)
	for range 2 { // again it is the same
		for id, want := range map[string]resource.Outcome{unsent: resource.OutcomeCancelled, given: resource.OutcomePending, ended: resource.OutcomeDone} {
			r, err := admin.Requests.Cancel(ctx, id)
			if err != nil || r.Report.Outcome != want || (r.Cancelled == "admin") != (id != ended) {
				t.Errorf("%+v, %v, want %s", r, err, want)
			}
		}
	}
	if got := idsOf(ctx, t, admin, "n1"); len(got) != 3 {
		t.Errorf("listed %v", got)
	}
	if got := idsOf(ctx, t, admin, "n2"); len(got) != 0 {
		t.Errorf("of another server: %v", got)
	}
}

// Requests are seen by who sees their server.
func TestListRequestsOfAScope(t *testing.T) {
	h := apitest.New(t)
	admin := h.Client(t)
	rows(t, h.Store)
	for _, server := range []string{"n1", "n2"} {
		if _, err := admin.Requests.Reboot(t.Context(), server, protoapi.RebootRequest{AnyPhase: true}); err != nil {
			t.Fatal(err)
		}
	}
	row7 := h.ClientOf(t, apitest.TokenOf("row7"))
	if all, mine := idsOf(t.Context(), t, admin, ""), idsOf(t.Context(), t, row7, ""); !slices.Equal(all, []string{"n1", "n2"}) || !slices.Equal(mine, []string{"n1"}) {
		t.Errorf("%v, in row 7 %v", all, mine)
	}
}

// idsOf are the servers of listed requests.
func idsOf(ctx context.Context, t *testing.T, c *protoapi.Client, server string) (servers []string) {
	t.Helper()
	all, err := c.Requests.List(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		servers = append(servers, r.Server)
	}
	return servers
}
