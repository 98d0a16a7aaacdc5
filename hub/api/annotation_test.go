package api_test

import (
	"fmt"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestAnnotations(t *testing.T) {
	h, admin, _ := owned(t)
	ctx := t.Context()
	annotate := func(name, value string) (protoapi.AnnotationAnswer, error) {
		return admin.Objects.Annotate(ctx, resource.KindServer, "n1", protoapi.AnnotationRequest{Annotation: name, Value: value})
	}
	_, before, err := h.KV.List(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][2]string{
		{"reboot.metal3.io", `{"mode":"HARD"}`},
		{"reboot.metal3.io/k", `{"mode":"hard","x":1}`},
		{"reboot.metal3.io/k", "hard"},
		{"reboot.metal3.io.foo", ""},
		{"reboot.metal3.io/", ""},
		{"", ""},
	} {
		_, err := annotate(row[0], row[1])
		wantCode(t, err, protocol.CodeInvalid)
	}
	if _, after, err := h.KV.List(ctx, ""); err != nil || after != before {
		t.Errorf("a refused value has changed something: %v", err)
	}

	const value = ` {'mode':'hard'} `
	a, err := annotate("reboot.metal3.io/my-key", value)
	if err != nil || a.Hold == nil || a.Request != nil || a.Hold.Spec.Key != "my-key" || a.Hold.Spec.Mode != resource.StopHard ||
		a.Hold.Spec.Ref != value || a.Hold.Spec.Owner != "admin" || a.Hold.Status.State != resource.StateAccepted {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, err := annotate("reboot.metal3.io/my-key", value); err != nil || again.Hold.Metadata.Name != a.Hold.Metadata.Name {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	_, err = annotate("reboot.metal3.io/my-key", "")
	wantCode(t, err, protocol.CodeConflict)

	r, err := annotate("reboot.metal3.io", `{"force":true,"mode":"hard"}`)
	if err != nil || r.Hold != nil || r.Request == nil || r.Request.Action != resource.RequestReboot || r.Request.Mode != resource.StopHard ||
		!r.Request.AnyPhase || r.Request.Ref != `{"force":true,"mode":"hard"}` {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = annotate("reboot.metal3.io", ""); err != nil || r.Request.Mode != resource.StopSoft || r.Request.AnyPhase {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = admin.Objects.Annotate(ctx, resource.KindServer, "n9", protoapi.AnnotationRequest{Annotation: "reboot.metal3.io/k"})
	wantCode(t, err, protocol.CodeNotFound)
	_, err = admin.Objects.Annotate(ctx, resource.KindServer, "n2", protoapi.AnnotationRequest{Annotation: "reboot.metal3.io"})
	wantCode(t, err, protocol.CodeConflict) // no claim, and no force: B10, and not dropped silently
	if r, err = admin.Objects.Annotate(ctx, resource.KindServer, "n2", protoapi.AnnotationRequest{Annotation: "reboot.metal3.io", Value: `{"force":true}`}); err != nil || r.Request.Precondition != (resource.Precondition{}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Which one-shots make sense; the table is above possible in request.go. A hold is no
// reason against any.
func TestPossibleRequests(t *testing.T) {
	for _, claim := range []string{"none", "there", "going"} {
		for _, power := range []resource.Power{resource.WantOn, resource.WantOff} {
			h := apitest.New(t)
			c := h.Client(t)
			uid := claimed(t, h, c, claim, power)
			for n := range 8 {
				if n == 4 {
					place(t, c, "k")
				}
				req := protoapi.RebootRequest{Action: resource.RequestReboot, AnyPhase: n&1 > 0, Ref: fmt.Sprint("ref-", n)}
				want, pre := protocol.Code(""), uid
				switch {
				case n&2 > 0:
					req.Action, pre = resource.RequestPowerOff, ""
					if claim == "there" && power == resource.WantOn {
						want = protocol.CodeConflict
					}
				case claim == "going", claim == "none" && !req.AnyPhase:
					want = protocol.CodeConflict
				}
				name := fmt.Sprintf("claim %s, wants %s: %+v, held %t", claim, power, req, n >= 4)
				r, err := c.Requests.Reboot(t.Context(), "n1", req)
				if protocol.CodeOf(err) != want || err != nil && protocol.HintOf(err) == "" {
					t.Errorf("%s: %v, want %q", name, err, want)
				}
				if err != nil {
					continue
				}
				if r.Precondition.OwnerUID != pre || r.AnyPhase != req.AnyPhase || r.Ref != req.Ref {
					t.Errorf("%s: %+v", name, r.Request)
				}
				if again, err := c.Requests.Reboot(t.Context(), "n1", req); err != nil || again.ID != r.ID {
					t.Errorf("%s: the same again is %s, %v; want %s", name, again.ID, err, r.ID)
				}
			}
		}
	}
}

// claimed gives server n1 a claim, or one that is going; it returns the claim's UID.
func claimed(t *testing.T, h *apitest.Hub, c *protoapi.Client, how string, power resource.Power) string {
	t.Helper()
	cl := storetest.Claim("c1", "n1")
	cl.Spec.Power = power
	if _, err := c.Objects.Apply(t.Context(), append(storetest.Site(), cl), false); err != nil {
		t.Fatal(err)
	}
	if how == "none" {
		return ""
	}
	got, err := store.Get[*resource.Claim](h.Store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	got.Status.Server = "n1"
	if how == "going" {
		at := apitest.Now()
		got.Metadata.DeletedAt = &at
	}
	if err := h.Store.Objects.Put(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	return got.Metadata.UID
}

func TestHoldTerms(t *testing.T) {
	_, admin, _ := owned(t)
	ask := protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k", TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease, ForceDuringFirmware: true}}
	h, err := admin.Holds.Create(t.Context(), "n1", ask)
	if err != nil || h.Spec.TTL != ask.TTL || h.Spec.OnExpiry != resource.ExpiryRelease || !h.Spec.ForceDuringFirmware {
		t.Fatalf("%+v, %v", h, err)
	}
	for name, bad := range map[string]protoapi.HoldRequest{
		"another ttl":              {HoldTerms: resource.HoldTerms{Key: "k", TTL: protocol.Duration(2 * time.Hour)}},
		"a ttl of seconds":         {HoldTerms: resource.HoldTerms{Key: "l", TTL: protocol.Duration(time.Second)}},
		"a ttl of months":          {HoldTerms: resource.HoldTerms{Key: "l", TTL: protocol.Duration(31 * 24 * time.Hour)}},
		"an expiry of nothing":     {HoldTerms: resource.HoldTerms{Key: "l", OnExpiry: resource.ExpiryRelease}},
		"an expiry nobody has":     {HoldTerms: resource.HoldTerms{Key: "l", TTL: protocol.Duration(time.Hour), OnExpiry: "melt"}},
		"a ttl that runs backward": {HoldTerms: resource.HoldTerms{Key: "l", TTL: -protocol.Duration(time.Hour)}},
	} {
		want := protocol.CodeInvalid
		if bad.Key == "k" {
			want = protocol.CodeConflict
		}
		if _, err := admin.Holds.Create(t.Context(), "n1", bad); protocol.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
