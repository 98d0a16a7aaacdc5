package choice

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestTargets(t *testing.T) {
	for text, want := range map[string]string{
		"servers":                      "[{Server []}]",
		"server n1":                    "[{Server [n1]}]",
		"server n1 n2 n1":              "[{Server [n1 n2]}]",
		"server/n1":                    "[{Server [n1]}]",
		"server/n1 claim/c1 Server/n2": "[{Server [n1 n2]} {Claim [c1]}]",
		"claims,servers":               "[{Claim []} {Server []}]",
		"claims,servers x":             "[{Claim [x]} {Server [x]}]",
		"servers,servers":              "[{Server []}]",
		"all":                          "[{Rack []} {Agent []} {Segment []} {BMC []} {Server []} {Claim []} {Hold []} {Maintenance []} {ServerGroup []}]",
		"all x":                        "invalid",
		"pods":                         "invalid",
		"server/n1 n2":                 "invalid",
		"server n1 server/n2":          "invalid",
		"server/":                      "invalid",
		"claims,":                      "invalid",
		"servers,all":                  "invalid",
	} {
		var args []string
		for word := range strings.FieldsSeq(text) {
			args = append(args, word)
		}
		got, err := Targets(args)
		if want == "invalid" {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%s: %v, %v", text, got, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
}
