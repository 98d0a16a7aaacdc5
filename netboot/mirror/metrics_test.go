package mirror_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot/mirror"
)

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	bubble(t, mirror.Config{Registerer: reg}, func(t *testing.T, b *bench) {
		b.put("/pub/a", page{content: "abc", etag: `"1"`})
		b.want("a", "abc")
		b.want("a", "abc")
		if _, err := fs.ReadFile(b.fsys, "b"); err == nil {
			t.Error("b is there")
		}
		if _, err := b.m.Fetch(t.Context(), "p", bubbleBase, []mirror.Want{{Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		problems, err := testutil.GatherAndLint(reg)
		if err != nil || len(problems) > 0 {
			t.Errorf("lint: %v, %v", problems, err)
		}
		for name, c := range map[string]struct{ help, kind, rows string }{
			"rackboot_mirror_opens_total": {
				"Files of package repositories that were opened, by how they were found.", "counter",
				"{result=\"absent\"} 1\n{result=\"hit\"} 2\n{result=\"miss\"} 1\n",
			},
			"rackboot_mirror_answers_total":        {"Questions to package repositories, by what became of them.", "counter", "{answer=\"absent\"} 1\n{answer=\"whole\"} 1\n"},
			"rackboot_mirror_received_bytes_total": {"Bytes of files that came from package repositories.", "counter", " 3\n"},
			"rackboot_mirror_used_bytes":           {"Size of what is kept of package repositories.", "gauge", " 8192\n"},
			"rackboot_mirror_pinned_bytes":         {"Size of what is kept of package repositories and may not be removed.", "gauge", " 8192\n"},
			"rackboot_mirror_requests_in_flight":   {"Requests to package repositories under way.", "gauge", " 0\n"},
		} {
			text := fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, c.help, name, c.kind)
			for row := range strings.Lines(c.rows) {
				text += name + row
			}
			if err := testutil.GatherAndCompare(reg, strings.NewReader(text), name); err != nil {
				t.Error(err)
			}
		}
		// A second mirror on the registry is refused, and one after this is not.
		other := b.cfg
		other.Dir = t.TempDir()
		if m, err := mirror.New(other); err == nil {
			t.Error("two have the same metrics")
			_ = m.Close()
		}
		b.restart()
	})
}
