package trace

import (
	"testing"

	"rackboot/protocol/resource"
)

// What an agent answers was made by firmware and images that anybody may have written.
func FuzzTraceBody(f *testing.F) {
	f.Add([]byte(`{"server":"n1","serial":1,"rows":[{"seq":1,"source":"dhcp","what":"DISCOVER"}]}`))
	f.Add([]byte(`{"server":"n1","rows":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if tr, err := trace(body, "n1"); err == nil && (tr.Server != "n1" || len(tr.Rows) > resource.MaxTraceRows) {
			t.Fatalf("%+v", tr)
		}
	})
}
