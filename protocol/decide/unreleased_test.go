package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestUnreleasedTable(t *testing.T) {
	all := doctable.Words(leftNone, leftOver, leftPresent, leftOther)
	doctable.Of(t, "unreleased.go", "unreleasedRule").HoldOne(t, [][]string{all, all},
		func(in []string) string { return unreleasedRule(left(in[0]), left(in[1])) })
}

// What is told of a record, as owners come and go: what the intent's owner has, or one has left that let
// the server go, is nobody's; under a claim nothing of before waits.
func TestUnreleased(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	claim := func(uid string) resource.Owner { return resource.Owner{Kind: resource.PurposeClaim, UID: uid} }
	r := Record{}
	told := func(when string, in *message.ServerIntent, want string) {
		t.Helper()
		got := ""
		if u := r.Unreleased(in); u != nil {
			got = u.OwnerUID + "/" + string(u.Attempt)
		}
		if got != want {
			t.Errorf("%s: it tells %q, want %q", when, got, want)
		}
	}
	none, first := &message.ServerIntent{}, &message.ServerIntent{Owner: claim("a")}
	told("nothing is recorded", none, "")
	r.Attempt = &Attempt{Order: Order{OwnerUID: "a"}, Stage: Stage{State: resource.AttemptArmed, Since: at}}
	told("an attempt of the owner", first, "")
	told("an attempt of nobody's", none, "a/Armed")
	told("no document names the server", nil, "a/Armed")
	r.Attempt.Order.Purpose = resource.PurposeDiscovery
	told("an attempt of a discovery", none, "")
	r.Attempt = nil
	r.provision(resource.Provisioned{OwnerUID: "a", At: at})
	told("installed, of the owner", first, "")
	told("installed, of nobody's", none, "a/")
	told("a maintenance before it", &message.ServerIntent{Owner: resource.Owner{Kind: resource.PurposeMaintenance, UID: "m"}}, "a/")
	r.letsGo(resource.Owner{Kind: resource.PurposeMaintenance, UID: "m"})
	told("after a maintenance that went", none, "a/")
	r.letsGo(claim("b"))
	told("after another claim that went", none, "")
	r.takesBack("a")
	told("the hub names it again, and loses it", none, "a/")
	r.letsGo(claim("a"))
	told("after the claim itself went", none, "")
	for i := range 2 * maxOwners {
		r.letsGo(claim(string(rune('A' + i))))
	}
	if len(r.Owners.Over) != maxOwners || !slices.Contains(r.Owners.Over, "a") {
		t.Errorf("%d are remembered, the one of the record among them: %t", len(r.Owners.Over), slices.Contains(r.Owners.Over, "a"))
	}
}
