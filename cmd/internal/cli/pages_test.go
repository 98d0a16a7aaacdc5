package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// gated gives no status to one resource until its gate is open, and fails then where it shall.
type gated struct {
	*apitest.CannedFleet
	name string
	gate chan struct{}
	fail bool
}

func (g *gated) Decorate(obj resource.Object) {
	if obj.Head().Metadata.Name == g.name {
		<-g.gate
		if g.fail {
			panic("no status")
		}
	}
	g.CannedFleet.Decorate(obj)
}

// gatedHub has 601 racks, r0 to r600: one more than the first two pages. The last one waits.
func gatedHub(t *testing.T, fail bool) (h *apitest.Hub, names []string, open func()) {
	t.Helper()
	status := &gated{name: "r600", gate: make(chan struct{}), fail: fail}
	open = sync.OnceFunc(func() { close(status.gate) })
	h = apitest.NewWith(t, func(c *api.Config) {
		status.CannedFleet = c.Rooms.Status.(*apitest.CannedFleet)
		c.Rooms.Status = status
	})
	t.Cleanup(open) // before the hub ends, which waits for its handlers
	for i := range 601 {
		names = append(names, fmt.Sprintf("r%d", i))
		if err := h.Store.Objects.Put(t.Context(), storetest.Rack(names[i])); err != nil {
			t.Fatal(err)
		}
	}
	return h, names, open
}

// What the hub has answered is on the screen before it has the rest, and the whole is one list, in the
// order that people count in.
func TestGetShowsPagesAsTheyCome(t *testing.T) {
	for form, names := range map[string]func(t *testing.T, text string) []string{
		"table": func(_ *testing.T, text string) (out []string) {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for _, line := range lines[1:] {
				out = append(out, strings.Fields(line)[0])
			}
			return out
		},
		"name": func(_ *testing.T, text string) []string {
			return strings.Fields(strings.ReplaceAll(text, "rack/", ""))
		},
		"json": func(t *testing.T, text string) []string { return headers(t, []byte(text)) },
		"yaml": func(_ *testing.T, text string) (out []string) {
			_, items, _ := strings.Cut(text, "\nitems:\n")
			for line := range strings.Lines(items) {
				if name, is := strings.CutPrefix(line, "      name: "); is {
					out = append(out, strings.TrimSpace(name))
				}
			}
			return out
		},
	} {
		t.Run(form, func(t *testing.T) {
			hub, want, open := gatedHub(t, false)
			out, wait := begin(t.Context(), t, hub, apitest.Token, "get", "racks", "-o", form)
			out.await(t, "r599")
			if strings.Contains(out.text(), "r600") {
				t.Error("the last one is there, and was held back")
			}
			open()
			if code := wait(); code != 0 {
				t.Fatalf("exit %d: %s", code, out.text())
			}
			if got := names(t, out.text()); !slices.Equal(got, want) {
				t.Errorf("%d names, want %d: %q", len(got), len(want), got)
			}
		})
	}
}

// headers are the names in a list.
func headers(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	var list struct{ Items []resource.Header }
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for _, h := range list.Items {
		out = append(out, h.Metadata.Name)
	}
	return out
}

// Where a page does not come the exit code says so, and what was shown was shown.
func TestGetFailsWhereAPageDoesNotCome(t *testing.T) {
	hub, _, open := gatedHub(t, true)
	open()
	out, wait := begin(t.Context(), t, hub, apitest.Token, "get", "racks", "-o", "json")
	if code := wait(); code != protocol.CodeInternal.ExitCode() || !strings.Contains(out.text(), "r599") || json.Valid([]byte(out.text())) {
		t.Errorf("exit %d, %d bytes", code, len(out.text()))
	}
}
