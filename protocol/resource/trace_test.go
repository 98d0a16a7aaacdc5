package resource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

// However many rows come, and of whatever length, the beginning and the end stay, the
// numbers tell what is missing, and both bounds are kept.
func TestTraceBounds(t *testing.T) {
	for name, detail := range map[string]string{"short rows": "x", "long rows": strings.Repeat("é", maxTraceDetail), "none": ""} {
		var tr Trace
		const rows = 3 * MaxTraceRows
		for n := range rows {
			tr.Add(TraceRow{At: time.Unix(int64(n), 0), Source: protocol.TraceHTTP, What: fmt.Sprintf("row %d", n+1), Detail: detail})
			if len(tr.Rows) > MaxTraceRows || tr.bytes() > MaxTraceBytes {
				t.Fatalf("%s: %d rows of %d bytes after %d", name, len(tr.Rows), tr.bytes(), n+1)
			}
		}
		if tr.Rows[0].What != "row 1" || tr.Rows[MaxTraceHead-1].Seq != MaxTraceHead || tr.Last() != rows {
			t.Errorf("%s: begins with %+v, head ends with %+v, ends with %d", name, tr.Rows[0], tr.Rows[MaxTraceHead-1], tr.Last())
		}
		next := 1
		for _, r := range tr.Rows {
			if r.Source == protocol.TraceGap {
				next += r.Dropped
				if r.Seq != next-1 {
					t.Errorf("%s: the gap says %d, %d rows are gone", name, r.Seq, r.Dropped)
				}
				continue
			}
			if r.Seq != next || r.What != fmt.Sprintf("row %d", r.Seq) {
				t.Fatalf("%s: %+v, want number %d", name, r, next)
			}
			next++
		}
		raw, err := json.Marshal(tr)
		if err != nil || len(raw) > 2*MaxTraceBytes {
			t.Errorf("%s: %d bytes of JSON, %v", name, len(raw), err)
		}
	}
}

// A row is one printable line.
func TestTraceText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"two\nlines\x1b[31m", "two lines [31m"},
		{"bad \xff byte", "bad   byte"},
		{strings.Repeat("é", 40), strings.Repeat("é", 22) + "…"},
	} {
		var tr Trace
		tr.Add(TraceRow{What: tt.in})
		if got := tr.Rows[0].What; got != tt.want || len(got) > maxTraceWhat {
			t.Errorf("%q became %q, want %q", tt.in, got, tt.want)
		}
	}
}
