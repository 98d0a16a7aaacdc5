package redfish

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
)

// TestStopKnownTable compares the table above stopKnown with it for every combination.
func TestStopKnownTable(t *testing.T) {
	source, err := os.ReadFile("learned.go")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(source)) {
		if cells, is := strings.CutPrefix(line, "//\t"); is {
			row := strings.Split(cells, "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 || !slices.Equal(rows[0], []string{"type", "learned", "same session", "stated", "known"}) {
		t.Fatalf("the table is %v", rows)
	}
	word := map[bool]string{true: "yes", false: "no"}
	kinds := map[bmc.ResetType]string{bmc.ResetOn: "start", bmc.ResetForceOff: "stop", bmc.ResetGracefulShutdown: "stop"}
	for reset, kind := range kinds {
		for i := range 8 {
			learned, same, stated := i&1 > 0, i&2 > 0, i&4 > 0
			l := newLearned()
			if learned {
				l.reset = &learnedReset{resetAction: resetAction{target: "/reset"}, token: "before"}
				if same {
					l.reset.token = "now"
				}
				if stated {
					l.reset.types = []bmc.ResetType{reset}
				}
			}
			fact := []string{kind, word[learned], word[same], word[stated]}
			at := slices.IndexFunc(rows[1:], func(row []string) bool {
				for k, f := range fact {
					if row[k] != "*" && row[k] != f {
						return false
					}
				}
				return true
			})
			if at < 0 {
				t.Fatalf("no row fits %v", fact)
			}
			if known, target := l.stopKnown(reset, "now"); word[known] != rows[1+at][4] || known && target != "/reset" {
				t.Errorf("%v: %v, the table says %s", fact, known, rows[1+at][4])
			}
		}
	}
}

// TestLearnAnotherMachine: what the ActionInfo of one machine stated is not believed of
// another one.
func TestLearnAnotherMachine(t *testing.T) {
	l := newLearned()
	l.stated([]bmc.ResetType{bmc.ResetForceOff})
	read := func(uuid string) {
		s := &system{}
		if err := s.UnmarshalJSON([]byte(`{"UUID":"` + uuid + `","Actions":{"#ComputerSystem.Reset":{"target":"/reset","@Redfish.ActionInfo":"/info"}}}`)); err != nil {
			t.Fatal(err)
		}
		l.read(s, "")
	}
	read("first")
	read("first")
	if known, _ := l.stopKnown(bmc.ResetForceOff, ""); !known {
		t.Error("forgotten by a read of the same machine")
	}
	read("second")
	if known, _ := l.stopKnown(bmc.ResetForceOff, ""); known {
		t.Error("another machine's types are believed")
	}
}
