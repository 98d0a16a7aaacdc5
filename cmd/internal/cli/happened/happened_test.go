package happened

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestGapsAreExplained(t *testing.T) {
	of := func(indexes ...uint64) (out []api.EventRecord) {
		for _, i := range indexes {
			out = append(out, api.EventRecord{Index: i})
		}
		return out
	}
	for _, row := range []struct {
		events []api.EventRecord
		begins string
	}{
		{nil, ""},
		{of(7), ""},
		{of(3, 4, 5), ""},
		{of(3, 4, 6), "1 numbers"},
		{of(1, 5, 6, 10), "6 numbers"},
	} {
		if got := Gap(row.events); row.begins == "" && got != "" || !strings.HasPrefix(got, row.begins) {
			t.Errorf("%v: %q", row.events, got)
		}
	}
}

func TestQueries(t *testing.T) {
	now := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	q := Query{of: "servers/n1", rack: "r1", since: time.Hour, codes: []string{"fenced", "HoldEnforced"}}
	got, err := q.Read(now)
	if err != nil || got.For != "Server/n1" || got.Rack != "r1" || !got.Since.Equal(now.Add(-time.Hour)) || len(got.Codes) != 2 || got.Codes[0] != resource.EventFenced {
		t.Errorf("%+v, %v", got, err)
	}
	for name, wrong := range map[string]Query{"no kind": {of: "pod/n1"}, "no name": {of: "server"}, "no code": {codes: []string{"Nonsense"}}, "to come": {since: -time.Hour}} {
		if _, err := wrong.Read(now); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
