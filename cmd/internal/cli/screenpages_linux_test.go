package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What comes with a later page fits the screen too: longer cells are cut, and names are not. A column that
// said nothing before, and was left out, is there from the page on that says something in it.
func TestLaterPagesFitTheScreen(t *testing.T) {
	hub := apitest.New(t)
	objs := []resource.Object{storetest.Rack("r1"), storetest.Segment("boot", "r1")}
	for i := range 130 {
		name := fmt.Sprintf("n%d", i)
		objs = append(objs, storetest.BMC(name, "r1"), storetest.Server(name, name, "boot", fmt.Sprintf("52:54:00:00:00:%02x", i)))
		s := resource.ServerStatus{Phase: resource.PhaseReserved, Claim: "short", Report: &resource.ServerReport{Observation: protocol.Observation{Power: protocol.PowerOn}}}
		if i >= 100 {
			s.Claim = "a-claim-whose-name-is-long"
			s.Conditions = []resource.ConditionState{{Code: resource.CondBMCUnreachable}, {Code: resource.CondHeld}, {Code: resource.CondStale}}
		}
		hub.Fleet.SetServer(name, s)
	}
	if _, err := hub.Store.Sets.Apply(t.Context(), objs, store.ApplyOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
	file, text := terminalOf(t)
	var said bytes.Buffer
	if code := Run(t.Context(), Config{Args: []string{"get", "servers"}, Out: file, Err: &said, In: strings.NewReader(""), Getenv: configured(t, hub, apitest.Token)}); code != 0 {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	lines := strings.Split(strings.TrimSpace(sgr.ReplaceAllString(text(), "")), "\n")
	names, headings, cut := 0, []string{}, 0
	for _, line := range lines {
		width := utf8.RuneCountInString(strings.TrimRight(line, " "))
		name, _, _ := strings.Cut(line, " ")
		switch {
		case name == "NAME":
			headings = append(headings, strings.Join(strings.Fields(line), " "))
		case name != fmt.Sprintf("n%d", names):
			t.Errorf("%q, want n%d", line, names)
		default:
			names++
		}
		if width > screenColumns {
			t.Errorf("%d columns: %q", width, line)
		}
		cut += strings.Count(line, "…")
	}
	// CONDITIONS say nothing on the first page, and are shown where they say something.
	if want := []string{"NAME RACK PHASE POWER CLAIM HOLDS AGE", "NAME RACK PHASE POWER CLAIM HOLDS CONDITIONS AGE"}; !slices.Equal(headings, want) {
		t.Errorf("headings %q", headings)
	}
	if names != 130 || cut == 0 {
		t.Errorf("%d names; %d cells were cut", names, cut)
	}
}
