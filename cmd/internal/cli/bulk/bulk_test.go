package bulk

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
)

func TestAgree(t *testing.T) {
	for name, row := range map[string]struct {
		bulk   Bulk
		answer string
		n      int
		want   protocol.Code
	}{
		"none":             {Bulk{limit: 2, yes: true}, "", 0, protocol.CodeNotFound},
		"as many as may":   {Bulk{limit: 2, yes: true}, "", 2, ""},
		"too many":         {Bulk{limit: 2, yes: true}, "yes\n", 3, protocol.CodeInvalid},
		"asked, yes":       {Bulk{limit: 2}, "yes\n", 2, ""},
		"asked, y":         {Bulk{limit: 2}, "y\n", 2, protocol.CodeDenied},
		"asked, no answer": {Bulk{limit: 2}, "", 2, protocol.CodeDenied},
	} {
		var out bytes.Buffer
		var names []string
		for i := range row.n {
			names = append(names, fmt.Sprintf("n%d", i))
		}
		err := row.bulk.Agree(&files.Input{Stdin: strings.NewReader(row.answer)}, &printer.Printer{Err: &out}, "hold", names)
		if got := protocol.CodeOf(err); err != nil && got != row.want || err == nil && row.want != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEachStopsAtAFailure(t *testing.T) {
	for _, row := range []struct {
		keep  bool
		fail  string
		tried string
		said  string
	}{
		{false, "", "a b c", ""},
		{false, "b", "a b", "b failed; not tried: c"},
		{true, "b", "a b c", "b failed: "},
		{false, "c", "a b c", "c failed: "},
	} {
		var out bytes.Buffer
		var tried []string
		b := Bulk{keepGoing: row.keep}
		err := b.Each(&printer.Printer{Err: &out}, []string{"a", "b", "c"}, func(name string) error {
			tried = append(tried, name)
			if name == row.fail {
				return protocol.Errorf(protocol.CodeConflict, "hold", "no").WithHint("wait")
			}
			return nil
		})
		if got := strings.Join(tried, " "); got != row.tried || !strings.Contains(out.String(), row.said) {
			t.Errorf("%+v: tried %s, said %s", row, got, out.String())
		}
		if wrong := row.fail != ""; wrong != (err != nil) || wrong && (protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) != "wait") {
			t.Errorf("%+v: %v", row, err)
		}
	}
}
