package plan

import (
	"testing"
	"time"
)

// TestReadingTable compares the table above Due with its rule.
func TestReadingTable(t *testing.T) {
	rows := tableOf(t, "reading.go", "open", "failed", "read", "changed since", "lacks", "due")
	yes := map[string]bool{"yes": true}
	for _, open := range []string{"yes", "no"} {
		for _, failed := range []string{"yes", "no"} {
			for _, read := range []string{"yes", "no"} {
				for _, changed := range []string{"yes", "no"} {
					for _, lacks := range []string{"yes", "no"} {
						r := Reading{Open: yes[open], Lacks: yes[lacks]}
						if yes[failed] {
							r.Failed = 1
						}
						if yes[read] {
							r.Read = time.Unix(100, 0)
						}
						if yes[changed] {
							r.Changed = time.Unix(200, 0)
						}
						if got, want := string(r.due()), rowOf(t, rows, open, failed, read, changed, lacks)[0]; got != want {
							t.Errorf("open %s, failed %s, read %s, changed %s, lacks %s: %s, the table says %s", open, failed, read, changed, lacks, got, want)
						}
					}
				}
			}
		}
	}
}

func TestReadingDue(t *testing.T) {
	ended := time.Unix(1_000_000, 0)
	for failed, want := range map[int]time.Duration{
		1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 4: 4 * time.Minute, 6: 16 * time.Minute, 7: 30 * time.Minute, 1000: 30 * time.Minute,
	} {
		if at, ok := (Reading{Failed: failed, Ended: ended}).Due(); !ok || at.Sub(ended) != want {
			t.Errorf("after %d failures in %s, want %s", failed, at.Sub(ended), want)
		}
	}
	if at, ok := (Reading{Read: ended}).Due(); !ok || at.Sub(ended) != 24*time.Hour {
		t.Errorf("again in %s", at.Sub(ended))
	}
	if at, ok := (Reading{Read: ended, Changed: ended.Add(-time.Hour)}).Due(); !ok || at.Sub(ended) != 24*time.Hour {
		t.Errorf("a change that was read already: again in %s", at.Sub(ended))
	}
	if at, ok := (Reading{}).Due(); !ok || !at.IsZero() {
		t.Errorf("the first one at %s", at)
	}
}
