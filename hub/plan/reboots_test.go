package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// modeValue is a value of a reboot annotation.
func modeValue(mode string) string { return fmt.Sprintf(`{"mode":%q}`, mode) }

// TestRebootsTable compares the table above Reboots with it for every combination.
func TestRebootsTable(t *testing.T) {
	rows := tableOf(t, "reboots.go", "form", "last", "now", "held", "move")
	for _, form := range []string{"base", "key"} {
		name, values := "reboot.metal3.io", []string{"no", "yes"}
		if form == "key" {
			name, values = name+"/k", []string{"no", "soft", "hard"}
		}
		for _, last := range []string{"no", "same", "other"} {
			for _, value := range values {
				for _, held := range []string{"no", "soft", "hard"} {
					now, text := map[string]string{}, modeValue(value)
					if value == "yes" {
						text = ""
					}
					if value != "no" {
						now[name] = text
					}
					// Another caller's are there always, and count for nothing.
					sets := []resource.RebootSet{{By: "other", Annotation: name, Value: text, Server: "n1"}, {By: "other", Annotation: "reboot.metal3.io/x", Server: "n1"}}
					switch last {
					case "same":
						sets = append(sets, resource.RebootSet{By: "me", Annotation: name, Value: text, Server: "n1"})
					case "other":
						sets = append(sets, resource.RebootSet{By: "me", Annotation: name, Value: `{"force":true}`, Server: "n1"})
					}
					if last != "no" && value == "no" {
						sets[len(sets)-1].Value = ""
					}
					moves, err := Reboots("me", "n1", sets, now, func(server, key string) *resource.Hold {
						if server != "n1" || key != "k" || held == "no" {
							return nil
						}
						return &resource.Hold{Spec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopMode(held)}}}
					})
					got := "none"
					switch {
					case protocol.CodeOf(err) == protocol.CodeConflict:
						got = "conflict"
					case err != nil:
						got = err.Error()
					case len(moves) == 1:
						got = string(moves[0].Do)
					case len(moves) > 1:
						got = fmt.Sprint(moves)
					}
					if want := rowOf(t, rows, form, last, value, held)[0]; got != want {
						t.Errorf("%s, last %s, now %s, held %s: %s, the table says %s", form, last, value, held, got, want)
					}
				}
			}
		}
	}
}

// TestRebootsMove: a claim that has another server than its annotation held is told so.
func TestRebootsMove(t *testing.T) {
	sets := []resource.RebootSet{{By: "me", Annotation: "reboot.metal3.io/k", Server: "n1"}}
	if _, err := Reboots("me", "n2", sets, map[string]string{"reboot.metal3.io/k": ""}, func(string, string) *resource.Hold { return nil }); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("%v", err)
	}
}

// TestRebootsOfCallers: callers apply an object in any order, as they wrote it or as they read it.
// Nobody's hold ends but by its owner, who left it out, and whoever set a key last has a hold.
func TestRebootsOfCallers(t *testing.T) {
	callers := []string{"a", "b"}
	keys := []string{"reboot.metal3.io/k", "reboot.metal3.io/l", "reboot.metal3.io"}
	rapid.Check(t, func(t *rapid.T) {
		var sets []resource.RebootSet
		held := map[[2]string]bool{} // by owner and key
		for range rapid.IntRange(1, 12).Draw(t, "applies") {
			by := rapid.SampledFrom(callers).Draw(t, "by")
			now := map[string]string{}
			if rapid.Bool().Draw(t, "as read") {
				srv := &resource.Server{Status: resource.ServerStatus{Reboots: sets}}
				resource.ShowReboots(srv, by)
				now = resource.TakeReboots(srv)
			} else {
				for _, k := range keys {
					if rapid.Bool().Draw(t, k) {
						now[k] = ""
					}
				}
			}
			before := len(sets)
			moves, err := Reboots(by, "n1", sets, now, func(_, key string) *resource.Hold {
				if !held[[2]string{by, key}] {
					return nil
				}
				return &resource.Hold{Spec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: resource.StopSoft}}}
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range moves {
				switch {
				case m.By != by:
					t.Fatalf("%q moves for %q", by, m.By)
				case m.Do == RebootHold:
					held[[2]string{by, m.Key}] = true
				case m.Do == RebootRelease:
					delete(held, [2]string{by, m.Key})
				}
			}
			sets = RebootSets(by, "n1", sets, now)
			for _, k := range keys[:2] {
				_, set := now[k]
				if key := k[len("reboot.metal3.io/"):]; held[[2]string{by, key}] != set {
					t.Fatalf("%q set %s: %t; held %v after %v with %d sets", by, k, set, held, moves, before)
				}
			}
			if n := len(sets); n != len(slices.Compact(slices.Clone(sets))) {
				t.Fatalf("%v", sets)
			}
		}
	})
}
