package fleet

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Every verb is read with its words, and what is wrong is told with its line.
func TestParseScript(t *testing.T) {
	steps, err := ParseScript([]byte(`# all of it
claim 10%   # of the racks
fail 20% by=ImageFailed
fail 5%
silence 2.5%
lose 3 off=2
lose 100%
return over=30s
return
wait settled within=2m
wait in-step
holds 100 over=20s
place 5
release
news 2.5
run 90s
figure end
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{Do: doClaim, Share: Share{Percent: 10}},
		{Do: doFail, Share: Share{Percent: 20}, Code: resource.AttemptImageFailed},
		{Do: doFail, Share: Share{Percent: 5}, Code: resource.AttemptNoDHCP},
		{Do: doSilence, Share: Share{Percent: 2.5}},
		{Do: doLose, Share: Share{Count: 3}, Off: 2},
		{Do: doLose, Share: Share{Percent: 100}, Off: -1},
		{Do: doReturn, For: 30 * time.Second},
		{Do: doReturn},
		{Do: doWait, State: Settled, For: 2 * time.Minute},
		{Do: doWait, State: InStep},
		{Do: doHolds, N: 100, For: 20 * time.Second},
		{Do: doPlace, N: 5},
		{Do: doRelease},
		{Do: doNews, Rate: 2.5},
		{Do: doRun, For: 90 * time.Second},
		{Do: doFigure, Label: "end"},
	}
	if len(steps) != len(want) {
		t.Fatalf("%d steps", len(steps))
	}
	for i, s := range steps {
		if s.Line != i+2 || s.Text == "" || strings.Contains(s.Text, "#") {
			t.Errorf("line %d: %q", s.Line, s.Text)
		}
		s.Line, s.Text = 0, ""
		if s != want[i] {
			t.Errorf("%+v, want %+v", s, want[i])
		}
	}
}

func TestParseScriptRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "it has no step",
		"# nothing":                       "it has no step",
		"claim 10%\n\nclam 10%":           `line 3: "clam" is no step`,
		"claim":                           "line 1: claim: SHARE is missing",
		"claim 0%":                        `"0%" is no rack`,
		"claim NaN%":                      `"NaN%" is not`,
		"claim 101%":                      `"101%" is not`,
		"claim -1":                        `"-1" is not`,
		"claim 10% 20%":                   `"20%" is too much`,
		"fail 20":                         "is no percentage",
		"fail 20% by=Fire":                `"Fire" is not one of`,
		"fail 20% by=NoDHCP by=NoDHCP":    "by is given twice",
		"lose 10% off=-1":                 `"-1" is not 0 to`,
		"return":                          "no rack has lost power before it",
		"wait ready":                      `"ready" is not one of`,
		"wait in-step within=0s":          `"0s" is not a time`,
		"wait in-step within":             `"" is not a time`,
		"holds 0":                         `"0" is not 1 to`,
		"news -1":                         "per second",
		"news NaN":                        "per second",
		"run 25h":                         "is not a time",
		"run":                             "DURATION is missing",
		"figure two words":                `"words" is too much`,
		strings.Repeat("release\n", 1001): "line 1001: there are more than 1000 steps",
		strings.Repeat(" ", MaxScript+1):  "more than 64 KiB",
	} {
		_, err := ParseScript([]byte(text))
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte("claim 10%\nwait settled within=2m # x\nlose 3 off=all\nreturn over=1s"))
	f.Fuzz(func(t *testing.T, text []byte) {
		steps, err := ParseScript(text)
		if err != nil {
			return
		}
		// What a step says of itself is the step.
		for _, s := range steps {
			again, err := parseStep(strings.Fields(s.Text))
			again.Line, again.Text = s.Line, s.Text
			if err != nil || again != s {
				t.Fatalf("%+v is read as %+v, %v", s, again, err)
			}
		}
	})
}

// The examples run, at a small size and quicker than they say.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../configs/sim/*.script")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := ParseScript(text)
			if err != nil {
				t.Fatal(err)
			}
			figures := 0
			for i := range steps {
				s := &steps[i]
				switch s.Do { //nolint:exhaustive // those that take long
				case doRun, doReturn:
					s.For = min(s.For, time.Second)
				case doHolds:
					s.N, s.For = 3, time.Second
				case doPlace:
					s.N = 2
				case doFigure:
					figures++
				}
			}
			s := newSite(t, 4, 3)
			var out bytes.Buffer
			s.config.Out, s.config.JSON, s.config.Seed = &out, true, 7
			if err := Run(t.Context(), s.config, steps); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			done, labels := 0, 0
			for lines := json.NewDecoder(&out); lines.More(); {
				var line struct {
					Step, Label string
				}
				if err := lines.Decode(&line); err != nil {
					t.Fatal(err)
				}
				if line.Step != "" {
					done++
				}
				if line.Label != "" {
					labels++
				}
			}
			if done != len(steps) || labels != figures {
				t.Errorf("%d of %d steps, %d of %d figures", done, len(steps), labels, figures)
			}
		})
	}
}

// Boots fail as often as they may, with the outcome that is wanted, and the hub says so.
func TestFail(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, 3)
	f := s.startEmpty()
	s.do(f, "fail 100% by=ImageFailed\nclaim 100%\nwait settled")
	if n := f.tally(time.Time{}); n.installed != 0 || n.owned != 6 {
		t.Errorf("%+v", n)
	}
	s.until("what became of the boots", func() bool {
		n := 0
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			if r := v.Status.Report; r != nil && r.Attempt != nil && r.Attempt.State == resource.AttemptFailed && r.Attempt.Code == resource.AttemptImageFailed {
				n++
			}
		}
		return n == 6
	})
	s.none(f)
}

// A BMC that answers nothing is said to be unreachable, and its server is installed once it answers.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, 3)
	f := s.startEmpty()
	s.do(f, "silence 100%\nclaim 100%\nwait settled")
	s.until("that BMCs are unreachable", func() bool {
		n := 0
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			for _, c := range v.Status.Conditions {
				if c.Code == resource.CondBMCUnreachable {
					n++
				}
			}
		}
		return n == 6
	})
	s.do(f, "silence 0%\nwait installed")
	s.none(f)
}

// Racks lose power without a goodbye, the servers that are off are booted from disk when it is back, and the others
// run on.
func TestPower(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, 3)
	f := s.start()
	s.do(f, "lose 50% off=1")
	if n := f.tally(time.Time{}); n.dark != 2 {
		t.Errorf("%d racks are dark", n.dark)
	}
	s.until("the end of their lines", func() bool { return f.tally(time.Time{}).connected == 2 })
	if open := s.openConnections(f); open != 4 {
		t.Errorf("%d connections are open: a goodbye was said", open)
	}
	if n, err := f.Lose(Share{Count: 4}, 0); n != 2 || err != nil {
		t.Errorf("%d racks lost power, %v", n, err)
	}
	if _, err := f.Lose(Share{Count: 1}, 0); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("nothing is left to lose: %v", err)
	}
	if n := f.Return(0); n != 4 {
		t.Errorf("%d racks have power again", n)
	}
	s.await(f, Settled)
	epochs := map[uint64]int{}
	s.until("the servers' words", func() bool {
		clear(epochs)
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			if r := v.Status.Report; r != nil && r.Power == protocol.PowerOn {
				epochs[r.PowerEpoch]++
			}
		}
		return epochs[1]+epochs[2] == 12 && epochs[2] >= 2
	})
	if epochs[2] != 2 {
		t.Errorf("servers by their power-ons: %v, want one of each rack of the first loss booted again", epochs)
	}
	s.none(f)
}

// The same seed draws the same, another one something else.
func TestLot(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, rackName(i))
	}
	a, b, c := drawn(1, "lose", 100, names), drawn(1, "lose", 100, names), drawn(2, "lose", 100, names)
	if strings.Join(a, " ") != strings.Join(b, " ") || strings.Join(a, " ") == strings.Join(c, " ") {
		t.Errorf("%v\n%v\n%v", a[:3], b[:3], c[:3])
	}
	k, n := fate{seed: 1}, 0
	for _, name := range names {
		if k.draws(20, "fails", name, "1") {
			n++
		}
	}
	if n < 150 || n > 250 {
		t.Errorf("%d of 1000 at 20 %%", n)
	}
}
