package decide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// table is an ASCII table from the doc comment of a function: the first row is
// the header, "*" fits anything, and the first row that fits decides.
type table struct {
	name string
	head []string
	rows [][]string
}

func readTable(t *testing.T, file, function string) table {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		tb := table{name: function}
		for line := range strings.Lines(fn.Doc.Text()) {
			if !strings.Contains(line, "|") {
				continue
			}
			var cells []string
			for c := range strings.SplitSeq(line, "|") {
				cells = append(cells, strings.TrimSpace(c))
			}
			if tb.head == nil {
				tb.head = cells
			} else {
				tb.rows = append(tb.rows, cells)
			}
		}
		if len(tb.rows) == 0 {
			t.Fatalf("%s: no table in the comment of %s", file, function)
		}
		return tb
	}
	t.Fatalf("%s: no function %s", file, function)
	return table{}
}

// check runs f for every combination of the columns' values and compares its
// answers with the first row that fits. outs is how many columns are answers.
// A combination that no row fits must give the fallback. Every row must decide
// at least one combination, so that no dead row misleads a reader.
func (tb table) check(t *testing.T, values [][]string, outs int, fallback func(in []string) []string, f func(in []string) []string) {
	t.Helper()
	if len(values)+outs != len(tb.head) {
		t.Fatalf("%s: %d columns, want %d", tb.name, len(tb.head), len(values)+outs)
	}
	used := make([]bool, len(tb.rows))
	n := 0
	var walk func(in []string)
	walk = func(in []string) {
		if len(in) < len(values) {
			for _, v := range values[len(in)] {
				walk(append(slices.Clone(in), v))
			}
			return
		}
		n++
		want := fallback(in)
		for i, row := range tb.rows {
			fits := true
			for c, v := range in {
				fits = fits && (row[c] == "*" || row[c] == v)
			}
			if fits {
				used[i], want = true, row[len(in):]
				break
			}
		}
		if got := f(in); want == nil || !slices.Equal(got, want) {
			t.Errorf("%s(%s) = %v, the table says %v", tb.name, strings.Join(in, ", "), got, want)
		}
	}
	walk(nil)
	for i, u := range used {
		if !u {
			t.Errorf("%s: row %d (%s) decides nothing", tb.name, i+1, strings.Join(tb.rows[i], " | "))
		}
	}
	t.Logf("%s: %d combinations, %d rows", tb.name, n, len(tb.rows))
}

func words[T ~string](vs ...T) []string {
	var out []string
	for _, v := range vs {
		out = append(out, string(v))
	}
	return out
}

var yesno = []string{"yes", "no"}

func none([]string) []string { return nil }

// power reads the word of a claim's power.
func power(word string) protocol.Power {
	if word == "none" {
		return ""
	}
	return protocol.Power(word)
}

func TestGoalTable(t *testing.T) {
	readTable(t, "goal.go", "goal").check(t, [][]string{
		yesno, words(holdsNone, holdsPlain, holdsForced), yesno, yesno, words(askedNothing, askedReboot, askedOff), {"On", "Off", "none"},
	}, 1, none, func(in []string) []string {
		return words(goal(in[0] == "yes", holding(in[1]), in[2] == "yes", in[3] == "yes", asked(in[4]), power(in[5])))
	})
}

func TestStopTable(t *testing.T) {
	readTable(t, "stop.go", "stopStep").check(t,
		[][]string{words(protocol.PowerStates()...), words(protocol.StopSoft, protocol.StopHard), words(stages()...)}, 1, none,
		func(in []string) []string {
			return words(stopStep(protocol.PowerState(in[0]), protocol.StopMode(in[1]), stage(in[2])))
		})
}

func TestAttemptTable(t *testing.T) {
	stay := func(in []string) []string { return []string{in[0], string(ActNone)} }
	readTable(t, "attempt.go", "attemptStep").check(t,
		[][]string{words(protocol.AttemptStates()...), yesno, words(isOff, isOn, isOther), words(armedOurs, armedOther, armedNone), words(timerRun, timerResend, timerExpired)}, 2, stay,
		func(in []string) []string {
			next, act, reason := attemptStep(protocol.AttemptState(in[0]), in[1] == "yes", running(in[2]), armed(in[3]), timer(in[4]))
			if (next == protocol.AttemptFailed && in[0] != string(next)) != (reason != "") {
				t.Errorf("%v: a failure has a reason, and nothing else has: %q", in, reason)
			}
			return []string{string(next), string(act)}
		})
}

func TestServeTable(t *testing.T) {
	readTable(t, "serve.go", "serveRule").check(t,
		[][]string{yesno, yesno, words(windowClosed, windowHTTP, windowTFTP), words(protocol.ClientClasses()...), yesno}, 1, none,
		func(in []string) []string {
			a, reason := serveRule(in[0] == "yes", in[1] == "yes", window(in[2]), protocol.ClientClass(in[3]), in[4] == "yes")
			if reason == "" {
				t.Errorf("%v: no reason", in)
			}
			return words(a)
		})
}

func TestPhaseTable(t *testing.T) {
	readTable(t, "phase.go", "phaseRule").check(t,
		[][]string{words(claimNone, claimBound, claimReleasing), yesno, yesno}, 1, none,
		func(in []string) []string {
			return words(phaseRule(claimState(in[0]), in[1] == "yes", in[2] == "yes"))
		})
}

func TestArmTable(t *testing.T) {
	readTable(t, "arm.go", "armRule").check(t, [][]string{words(protocol.BootOutcomes()...), words(faultNone, faultBusy, faultNever, faultOther)}, 1, none,
		func(in []string) []string { return words(armRule(protocol.BootOutcome(in[0]), fault(in[1]))) })
}

func TestResetTable(t *testing.T) {
	readTable(t, "reset.go", "resetRule").check(t, [][]string{words(movedFirst, movedSame, movedEarlier, movedLater), {"seen", "none"}, {"ours", "none"}}, 1, none,
		func(in []string) []string {
			if resetRule(moved(in[0]), in[1] == "seen", in[2] == "ours") {
				return []string{"yes"}
			}
			return []string{"no"}
		})
}

func TestIdentityTable(t *testing.T) {
	readTable(t, "identity.go", "identityRule").check(t, [][]string{words(identifiedFirst, identifiedSame, identifiedOther), {"nothing", "this", "another"}}, 1, none,
		func(in []string) []string { return []string{identityRule(identified(in[0]), in[1])} })
}

func TestGrantTable(t *testing.T) {
	readTable(t, "boot.go", "grantRule").check(t, [][]string{{"own", "foreign"}, yesno, {"local", "away"}, {"heard", "unheard"}}, 1, none,
		func(in []string) []string {
			return words(grantRule(in[0] == "foreign", in[1] == "yes", in[2] == "local", in[3] == "heard"))
		})
}
