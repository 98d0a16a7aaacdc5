package mirror_test

import (
	"fmt"
	"io"
	"testing"

	"rackboot/netboot/mirror"
)

// What a file costs that is in the cache: opened, read, closed.
func BenchmarkCached(b *testing.B) {
	for _, size := range []int{4 << 10, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			o := newOrigin()
			o.put("/a", page{content: long(size), etag: `"1"`})
			s := serve(b, o)
			fsys := tree(b, open(b, mirror.Config{Bases: []mirror.Base{{URL: s.URL}}}), s.URL)
			want(b, fsys, "a", long(size))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			buf := make([]byte, 256<<10)
			for b.Loop() {
				f, err := fsys.Open("a")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{f}, buf); err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a file costs that is not: fetched over loopback, written, fsynced.
func BenchmarkFetched(b *testing.B) {
	const size = 4 << 20
	o := newOrigin()
	s := serve(b, o)
	fsys := tree(b, open(b, mirror.Config{Quota: 20 * size, Bases: []mirror.Base{{URL: s.URL}}}), s.URL)
	text := long(size)
	b.SetBytes(size)
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprint(i)
		o.put("/"+name, page{content: name + text[len(name):], etag: `"1"`})
		settled(b, fsys, name)
	}
}
