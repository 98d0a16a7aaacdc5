package mirror_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"rackboot/netboot/mirror"
	"rackboot/protocol"
)

// Many readers, pins and evictions at once, over real connections: whatever is read is
// right, and the room is never exceeded.
func TestAllAtOnce(t *testing.T) {
	const files, block = 40, 8 << 10
	o := newOrigin()
	for i := range files {
		o.put(fmt.Sprintf("/f/%d", i), page{content: long(block)[i:], etag: fmt.Sprintf(`"%d"`, i)})
	}
	s := serve(t, o)
	c := mirror.Config{Dir: t.TempDir(), Quota: (files - 6) * (block + 4<<10), Bases: []mirror.Base{{URL: s.URL}}, Fetches: 4}
	m := open(t, c)
	fsys := tree(t, m, s.URL+"/f")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 0))
			for range 60 {
				i := rnd.IntN(files)
				name := fmt.Sprint(i)
				switch rnd.IntN(6) {
				case 0:
					if _, err := m.Fetch(t.Context(), fmt.Sprint("pin", w%3), s.URL+"/f", []mirror.Want{{Name: name}, {Name: fmt.Sprint((i + 1) % files)}}); err != nil && protocol.CodeOf(err) != protocol.CodeConflict {
						t.Errorf("Fetch %s: %v", name, err)
					}
				case 1:
					m.Unpin(fmt.Sprint("pin", w%3))
				case 2:
					if _, err := fs.Stat(fsys, name); err != nil {
						t.Errorf("Stat %s: %v", name, err)
					}
				default:
					got, err := fs.ReadFile(fsys, name)
					if err != nil || string(got) != long(block)[i:] {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				}
			}
		})
	}
	wg.Wait()
	if s := m.State(s.URL); s.Bytes > c.Quota || !s.Reachable {
		t.Errorf("%+v", s)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, c)
	if got := append(inFolder(t, c.Dir, "t-"), inFolder(t, filepath.Join(c.Dir, "content"), "tmp-")...); got != nil {
		t.Errorf("left %q", got)
	}
}
