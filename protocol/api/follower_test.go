package api

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What was told already is not told again, over connections and restarts; what is not told again is gone.
func TestFollower(t *testing.T) {
	put := func(name, uid, digest string) string {
		return fmt.Sprintf(`{"type":"put","name":%q,"digest":%q,"object":{"kind":"Server","metadata":{"name":%q,"uid":%q}}}`, name, digest, name, uid)
	}
	f := newFollower(resource.KindServer)
	for _, row := range []struct {
		name, lines, want, position string
	}{
		{"everything", `{"type":"again"}` + put("n1", "u1", "a") + put("n2", "u2", "a") + `{"type":"synced","position":"p1"}`, "put n1, put n2, synced", "p1"},
		{"changes", put("n1", "u1", "a") + put("n1", "u1", "b") + `{"type":"gone","name":"n9"}{"type":"bookmark","position":"p2"}`, "put n1", "p2"},
		{"one made anew", put("n2", "u3", "a2"), "gone n2, put n2", "p2"},
		{"another run", `{"type":"again"}` + put("n1", "u1", "b") + `{"type":"bookmark","position":"no"}{"type":"later"}{"type":"synced","position":"p3"}`, "gone n2, synced", "p3"},
		{"one that broke off", `{"type":"again"}`, "", "p3"},
		{"goes on", put("n3", "u4", "a") + `{"type":"synced","position":"p4"}`, "put n3, synced", "p4"},
		{"a bookmark without a position", `{"type":"bookmark"}`, "", "p4"},
		{"gone", `{"type":"gone","name":"n1"}`, "gone n1", "p4"},
	} {
		f.begin()
		var got []string
		err := readWatch(strings.NewReader(strings.ReplaceAll(row.lines, `}{"type"`, "}\n"+`{"type"`)), func(e WatchEvent) error {
			changes, err := f.take(e)
			for _, c := range changes {
				got = append(got, strings.TrimSpace(string(c.Type)+" "+c.Name))
			}
			return err
		})
		if text := strings.Join(got, ", "); err != nil || text != row.want || f.position != row.position {
			t.Errorf("%s: %s at %s, %v; want %s at %s", row.name, text, f.position, err, row.want, row.position)
		}
	}
}

// FuzzWatchLines: no line panics; what is told is there, and gone only if it was told.
func FuzzWatchLines(f *testing.F) {
	f.Add(`{"type":"put","name":"n1","object":{"metadata":{"name":"n1"}}}` + "\n" + `{"type":"gone","name":"n1"}`)
	f.Add(`{"type":"again"}` + "\n\n" + `{"type":"synced"}`)
	f.Add(`{"type":"end","problem":{"code":"unavailable"}}`)
	f.Add(`{"type":"put","name":"n1","object":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		f := newFollower(resource.KindServer)
		have := map[string]bool{}
		err := readWatch(strings.NewReader(text), func(e WatchEvent) error {
			changes, err := f.take(e)
			for _, c := range changes {
				switch c.Type {
				case ChangePut:
					if c.Object == nil || c.Object.Head().Metadata.Name != c.Name {
						t.Errorf("%+v", c)
					}
					have[c.Name] = true
				case ChangeGone:
					if !have[c.Name] {
						t.Errorf("%s is gone, and was never there", c.Name)
					}
					delete(have, c.Name)
				case ChangeSynced, ChangeBroken:
				}
			}
			return err
		})
		if _, ours := errors.AsType[*protocol.Error](err); err != nil && !ours && !strings.Contains(err.Error(), "too long") {
			t.Errorf("%v", err)
		}
	})
}
