package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// update rewrites the golden frames.
var update = flag.Bool("update", false, "update testdata/frames")

// powerOn is what an agent has seen of a boot that failed.
func powerOn() resource.Trace {
	began := noon().Add(-2 * time.Minute)
	return resource.Trace{
		Server: "worker-10", Serial: 3, Number: 2, Purpose: resource.PurposeClaim, Intended: "UefiHttp", Began: began, State: resource.AttemptFailed, Since: began.Add(time.Minute),
		Code: resource.AttemptNotStored, Kept: []int{1, 2, 3},
		Rows: []resource.TraceRow{
			{Seq: 1, At: began, Source: protocol.TraceRedfish, What: "override written", Detail: "UefiHttp, Once"},
			{Seq: 2, At: began.Add(9 * time.Second), Source: protocol.TraceDHCP, What: "DISCOVER", Detail: "52:54:00:00:00:01, HTTPClient \x1b[2J"},
		},
	}
}

// screens are the screens that are kept.
func screens() map[string]model {
	small, large := newModel(fleet(), 80, 24), newModel(fleet(), 120, 40)
	lost := trouble{noon().Add(30 * time.Second), protocol.CodeUnavailable, "get /v1/servers: hub not reached: dial tcp 10.0.0.1:8443: connect: connection refused"}
	lacks := fleet()
	lacks.lacks = "the list is incomplete, and what it lacks may be there"
	return map[string]model{
		"servers-80":    small,
		"servers-120":   keyed(large, "j", "j"),
		"racks-80":      keyed(small, "tab"),
		"racks-120":     keyed(large, "tab"),
		"filter-80":     keyed(small, "/", "r", "a", "c", "k", "-", "1"),
		"lost-80":       small.lose(lost),
		"paused-80":     keyed(small, "p"),
		"incomplete-80": newModel(lacks, 80, 24),
		"server-80":     keyed(small, "j", "j", "enter").look(looked{server: "worker-10", trace: powerOn()}),
		"server-120":    keyed(large, "j", "j", "enter").look(looked{server: "worker-10", trace: powerOn()}),
	}
}

func TestFrames(t *testing.T) {
	for name, m := range screens() {
		t.Run(name, func(t *testing.T) {
			lines := m.frame(noon().Add(time.Minute), painter{})
			checkFrame(t, m, lines)
			for i, l := range lines {
				lines[i] = strings.TrimRight(l, " ")
			}
			got := strings.Join(lines, "\n") + "\n"
			path := filepath.Join("testdata", "frames", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || string(want) != got {
				t.Errorf("%v\n got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// checkFrame holds that a frame is as large as its screen, and has nothing in it that a terminal acts on.
func checkFrame(t *testing.T, m model, lines []string) {
	t.Helper()
	if len(lines) != m.lines {
		t.Errorf("%d lines on a screen of %d", len(lines), m.lines)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n != m.columns {
			t.Errorf("%d columns on a screen of %d: %q", n, m.columns, l)
		}
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == '\u202e' }) {
			t.Errorf("a terminal would act on %q", l)
		}
	}
}

// Whatever the hub says, and however small a screen is, a frame fits and moves no cursor.
func TestFramesOfHostileTexts(t *testing.T) {
	for i, text := range hostile() {
		s := fleet()
		s.hub, s.version, s.caller, s.lacks = text, text, text, strings.Repeat(text, i%2)
		for _, o := range s.servers {
			o.Status.Claim, o.Status.Phase = text, resource.Phase(text)
			o.Status.Conditions = []resource.ConditionState{{Code: resource.ConditionCode(text), Since: noon(), Message: text}, {Code: resource.CondBMCUnreachable, Message: text}}
			o.Status.Report = &resource.ServerReport{
				Observation: protocol.Observation{Power: protocol.PowerState(text), Error: text}, Attempt: &resource.AttemptReport{State: resource.AttemptState(text), Reason: text, URI: text},
				Awaits: &resource.Wait{For: resource.WaitCode(text), Since: noon(), Report: protocol.EvidenceKind(text)}, Identity: text, Holds: []resource.HoldReport{{ID: text, State: resource.HoldState(text)}},
			}
			o.Metadata.Name += text
			o.Metadata.Labels = map[string]string{text: text}
		}
		for _, o := range s.racks {
			o.Metadata.Name, o.Status.Standby = text, text
		}
		for _, o := range s.agents {
			o.Status.Conditions = append(o.Status.Conditions, resource.ConditionState{Code: resource.ConditionCode(text)})
		}
		s.freezes[0].Metadata.Name, s.freezes[0].Spec.RackRef = text, &resource.Ref{Name: text}
		trace := powerOn()
		trace.Reason, trace.Code, trace.Rows[0].What, trace.Rows[0].Detail, trace.Rows[0].Source = text, resource.AttemptCode(text), text, text, protocol.TraceSource(text)
		for _, size := range [][2]int{{80, 24}, {120, 40}, {300, 100}, {20, 6}, {1, 1}, {3, 0}, {0, 3}} {
			m := newModel(s, size[0], size[1])
			opened := keyed(m, "enter")
			for _, m := range []model{
				m, keyed(m, "tab"), opened, opened.look(looked{server: opened.open, trace: trace}), keyed(opened.look(looked{server: opened.open, why: text}), "G"),
				m.lose(trouble{noon(), protocol.CodeUnavailable, text}), keyed(m, "/").typed(press{text: text}),
			} {
				checkFrame(t, m, m.frame(noon(), painter{}))
			}
		}
	}
}

// Colours change no text, and only states have some.
func TestColours(t *testing.T) {
	m := newModel(fleet(), 120, 40)
	plain, coloured := m.frame(noon(), painter{}), m.frame(noon(), painter{colours: true})
	for i := range plain {
		if got := ansi.Strip(coloured[i]); got != plain[i] {
			t.Errorf("%q\n%q", got, plain[i])
		}
	}
	text := strings.Join(coloured, "\n")
	for _, want := range []string{"\x1b[31mError", "\x1b[32m1 Fenced", "\x1b[31mstale", "\x1b[31m3 racks, 2 silent"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%q", want, text)
		}
	}
}

// What a screen costs does not grow with what is not on it: the rows are made once of each snapshot.
func BenchmarkTop(b *testing.B) {
	for _, n := range []int{60, 6000} {
		s := many(n)
		m := newModel(s, 120, 40)
		b.Run(fmt.Sprintf("take-%d", n), func(b *testing.B) {
			for b.Loop() {
				m = m.take(s, noon())
			}
		})
		b.Run(fmt.Sprintf("frame-%d", n), func(b *testing.B) {
			for b.Loop() {
				if len(m.frame(noon(), painter{colours: true})) != 40 {
					b.Fatal("no frame")
				}
			}
		})
		b.Run(fmt.Sprintf("key-%d", n), func(b *testing.B) {
			for b.Loop() {
				m, _ = m.key(press{name: "j"}, noon())
			}
		})
		b.Run(fmt.Sprintf("filter-%d", n), func(b *testing.B) {
			for b.Loop() {
				_ = keyed(m, "/", "7")
			}
		})
	}
}

// The screen of the guide is one that is drawn.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/guide/top.md")
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.ReadFile("testdata/frames/servers-80.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "```text\n")
	shown, _, ended := strings.Cut(shown, "```")
	if !found || !ended || !strings.HasPrefix(string(screen), shown) {
		t.Errorf("the guide shows\n%s\nand the screen is\n%s", shown, screen)
	}
}
