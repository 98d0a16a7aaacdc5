package mirror

import (
	"fmt"
	"net/http"
	"testing"
)

func TestContentRange(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // RFC 9110 section 14.4
	}{
		{"bytes 0-0/1", "0 0 1"},
		{"bytes 5-9/10", "5 9 10"},
		{"Bytes 5-9/10", "5 9 10"},
		{"bytes 5-5/6", "5 5 6"},
		{"bytes */10", ""},
		{"bytes 0-9/*", ""},
		{"bytes 9-5/10", ""},
		{"bytes 0-10/10", ""},
		{"bytes +0-+9/10", ""},
		{"bytes -1-9/10", ""},
		{"bytes 0-9/99999999999999999999", ""},
		{"items 0-9/10", ""},
		{"bytes=0-9/10", ""},
		{"bytes 0-9", ""},
		{"bytes 0/10", ""},
		{"", ""},
	} {
		first, last, size, ok := contentRange(c.in)
		got := ""
		if ok {
			got = fmt.Sprint(first, last, size)
		}
		if got != c.want {
			t.Errorf("contentRange(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestPartOf(t *testing.T) {
	const date = "Sat, 21 Nov 2020 10:00:00 GMT"
	whole := entry{URL: "http://h/initrd.gz", Size: 100}
	for _, c := range []struct {
		name   string
		strong string
		status int
		length int64
		header http.Header
		want   part
	}{
		{"the rest", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"a"`}}, partRest},
		{"another ETag", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"b"`}}, partChanged},
		{"weak ETag", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`W/"a"`}}, partChanged},
		{"no ETag", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}}, partChanged},
		{"another size", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/101"}, "Etag": {`"a"`}}, partChanged},
		{"from elsewhere", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 41-99/100"}, "Etag": {`"a"`}}, partChanged},
		{"not to the end", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-98/100"}, "Etag": {`"a"`}}, partChanged},
		{"several", `"a"`, 206, 60, http.Header{"Content-Type": {"multipart/byteranges"}, "Etag": {`"a"`}}, partChanged},
		{"compressed", `"a"`, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"a"`}, "Content-Encoding": {"br"}}, partChanged},
		{"the whole, the same", `"a"`, 200, 100, http.Header{"Etag": {`"a"`}}, partWhole},
		{"the whole, another (If-Range failed)", `"a"`, 200, 100, http.Header{"Etag": {`"b"`}}, partChanged},
		{"the whole, of another size", `"a"`, 200, 101, http.Header{"Etag": {`"a"`}}, partChanged},
		{"by date", date, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Last-Modified": {date}}, partRest},
		{"by date, which may be left out", date, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}}, partRest},
		{"by date, with an ETag now", date, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Last-Modified": {date}, "Etag": {`"b"`}}, partChanged},
		{"by another date", date, 206, 60, http.Header{"Content-Range": {"bytes 40-99/100"}, "Last-Modified": {"Sat, 21 Nov 2020 10:00:01 GMT"}}, partChanged},
		{"gone", `"a"`, 404, 0, nil, partChanged},
		{"shorter now", `"a"`, 416, 0, nil, partChanged},
		{"precondition", `"a"`, 412, 0, nil, partChanged},
		{"failing", `"a"`, 503, 0, nil, partTrouble},
		{"denied", `"a"`, 403, 0, nil, partTrouble},
	} {
		resp := &http.Response{StatusCode: c.status, ContentLength: c.length, Header: c.header}
		if got := partOf(resp, whole, c.strong, 40); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAsStored(t *testing.T) {
	for _, c := range []struct {
		coding, name string
		want         bool
	}{
		{"", "linux", true},
		{"identity", "linux", true},
		{"gzip", "linux", false},
		{"x-gzip", "initrd.gz", true}, // Apache: AddEncoding x-gzip .gz .tgz
		{"gzip", "a/b.TGZ", true},
		{"gzip", "Packages.xz", false},
		{"xz", "Packages.xz", true},
		{"bzip2", "a.bz2", true},
		{"zstd", "a.zst", true},
		{"br", "a.gz", false},
		{"gzip, gzip", "a.gz", false},
	} {
		if got := asStored([]string{c.coding}, c.name); got != c.want {
			t.Errorf("%q of %s: %v", c.coding, c.name, got)
		}
	}
}
