package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// habit is something that kubectl's users type, and what does it here: a script, or why there is nothing.
type habit struct {
	kubectl string
	script  []string
	differs string
}

// habits reads testdata/kubectl/habits.txt.
func habits(t *testing.T) (out []habit) {
	t.Helper()
	raw, err := os.ReadFile("testdata/kubectl/habits.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		lines := strings.Split(block, "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		h := habit{kubectl: lines[0]}
		if why, is := strings.CutPrefix(lines[1], "differs: "); is && len(lines) == 2 {
			h.differs = why
		} else {
			h.script = lines[1:]
		}
		if !strings.HasPrefix(h.kubectl, "kubectl ") || h.differs == "" && len(h.script) < 2 {
			t.Fatalf("a block is no habit:\n%s", block)
		}
		out = append(out, h)
	}
	return out
}

// habitSite is there before each habit, with what stands in its files.
const habitSite = `exec rackctl apply -f site.yaml -f more.yaml
exec rackctl label rack r1 zone=a
exec rackctl label claim c1 team=a
fleet server n1 n1.json
fleet event n1 HoldEnforced 'by admin'
fleet event n2 HoldEnforced 'of another'
fleet event gone HoldEnforced elsewhere
`

const habitFiles = `
-- n1.json --
{"phase": "Reserved", "claim": "c1", "conditions": [{"code": "MethodMismatch", "since": "2026-11-20T08:00:00Z"}]}
-- names --
server/n1
server/n2
server/n10
-- sorted --
server/n1
server/n10
server/n2
-- dir/r9.yaml --
apiVersion: rackboot/v1
kind: Rack
metadata: {name: r9}
-- more.yaml --
apiVersion: rackboot/v1
kind: BMC
metadata: {name: b2}
spec: {rackRef: {name: r1}, address: "http://127.0.0.1:8001", credentialsRef: "local:b1"}
---
apiVersion: rackboot/v1
kind: Server
metadata: {name: n10, labels: {row: "8"}}
spec: {bmcRef: {name: b2}, segmentRef: {name: boot}, bootMAC: "52:54:00:00:00:0a"}
---
apiVersion: rackboot/v1
kind: BMC
metadata: {name: b3}
spec: {rackRef: {name: r1}, address: "http://127.0.0.1:8002", credentialsRef: "local:b1"}
---
apiVersion: rackboot/v1
kind: Server
metadata: {name: n2}
spec: {bmcRef: {name: b3}, segmentRef: {name: boot}, bootMAC: "52:54:00:00:00:0b"}
`

// Each habit that works is typed, at a hub of its own, and prints what it is to print.
func TestHabits(t *testing.T) {
	dir := t.TempDir()
	works := 0
	for i, h := range habits(t) {
		if h.differs != "" {
			continue
		}
		works++
		script := "# " + h.kubectl + "\n" + habitSite
		for _, line := range h.script {
			switch command, watches := strings.CutSuffix(line, " &watch&"); {
			case watches: // what it writes is looked at while it goes on
				line = "exec sh -c 'exec " + command + " >watch' &watch&"
			case strings.HasPrefix(line, "rackctl "):
				line = "exec " + line
			}
			script += line + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.txtar", i)), []byte(script+habitFiles), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if works < 55 {
		t.Errorf("%d of %d habits work", works, len(habits(t)))
	}
	testscript.Run(t, params(dir))
}

// docs/reference/kubectl.md has the habits as a table.
func TestHabitsPage(t *testing.T) {
	const page, begin, end = "../../docs/reference/kubectl.md", "| kubectl | rackctl |\n|---|---|\n", "\n\n"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("%s has no table of habits", page)
	}
	var rows []string
	for _, h := range habits(t) {
		rows = append(rows, row(h))
	}
	want := before + begin + strings.Join(rows, "\n") + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Errorf("%s is not testdata/kubectl/habits.txt: go test ./cmd/rackctl -run TestHabitsPage -update", page)
	}
}

// row is a habit as a row of the table: what is typed there, and here.
func row(h habit) string {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
	command, comment, _ := strings.Cut(h.kubectl, "   # ")
	left := "`" + cell(command) + "`"
	if comment != "" {
		left += " " + cell(comment)
	}
	if h.differs != "" {
		return "| " + left + " | differs: " + cell(h.differs) + " |"
	}
	var typed []string
	for _, line := range h.script {
		line = strings.TrimSuffix(line, " &watch&")
		line = strings.TrimSuffix(line, " &events&")
		if _, here, exits := strings.Cut(line, " rackctl "); exits && strings.HasPrefix(line, "exits ") {
			line = "rackctl " + here
		}
		if strings.HasPrefix(line, "rackctl ") && !strings.HasPrefix(line, "rackctl __complete") {
			typed = append(typed, "`"+cell(line)+"`")
		}
	}
	return "| " + left + " | " + strings.Join(typed, "<br>") + " |"
}
