package mirror

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"
)

// A name that passes stays below its base, however often somebody decodes it, and no two
// share a key.
func FuzzName(f *testing.F) {
	for _, s := range []string{"a", "a/b", "../a", "a/../b", "%2e%2e/a", "a%2fb", "a+b", "ä", "a b", "a:b", "//a", "a?b", "a\\b", ".", "a%", "a%252e"} {
		f.Add(s, "b")
	}
	base, err := parseBase("test", "http://host.example/deb+ian/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		if checkName(name) != nil {
			return
		}
		u := under(base, name)
		if u.RawQuery != "" || u.Fragment != "" || u.Host != base.Host {
			t.Fatalf("%q becomes %s", name, u)
		}
		sent, err := url.Parse(u.String())
		if err != nil || sent.Path != u.Path || !strings.HasPrefix(sent.Path, base.Path) {
			t.Fatalf("%q is sent as %s, %v", name, u, err)
		}
		for at := u.EscapedPath(); ; {
			if clean := path.Clean(at); name != "." && !strings.HasPrefix(clean, "/deb") {
				t.Fatalf("%q leaves its base as %s", name, at)
			}
			next, err := url.PathUnescape(at)
			if err != nil || next == at {
				break
			}
			at = next
		}
		if stored, err := parseStored(show(u)); err != nil || keyOf(stored) != keyOf(u) {
			t.Fatalf("%q is kept as %s, %v", name, show(u), err)
		}
		if checkName(other) == nil && other != name && keyOf(under(base, other)) == keyOf(u) {
			t.Fatalf("%q and %q share a key", name, other)
		}
	})
}

// A base that passes is written in one way only.
func FuzzBase(f *testing.F) {
	for _, s := range []string{
		"http://h", "https://H.example:443/a/", "http://h:80/a//b", "http://u:p@h/", "http://h/%2e%2e/", "http://[::1]:8080/a", "http://h/a?b", "http://h/a#",
		"http://h:0/", "http://h\\x/", "http://h/a%2fb", "//h/a", "http:h", "http://h/ä b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseBase("test", text)
		if err != nil {
			return
		}
		again, err := parseBase("test", u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is %s, and that is %v, %v", text, u, again, err)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasSuffix(u.Path, "/") || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") && u.Path != "/" {
			t.Fatalf("%q is %#v", text, u)
		}
	})
}

func FuzzEntry(f *testing.F) {
	good, err := json.Marshal(entry{
		Version: sidecarVersion, URL: "http://h/a", ETag: `"a"`, Modified: time.Unix(0, 0).UTC(), Size: 1, SHA256: strings.Repeat("a", 64),
		Fetched: time.Unix(1, 0).UTC(), Checked: time.Unix(1, 0).UTC(), Lifetime: unsaid,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(append(good, '{'))
	f.Add([]byte(`{"version":1,"size":-1}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := parseEntry(raw)
		if err != nil {
			return
		}
		if e.Size < 0 || !isHash(e.SHA256) || e.Version != sidecarVersion || e.Lifetime < unsaid {
			t.Fatalf("%+v", e)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseEntry(again); err != nil || !back.Checked.Equal(e.Checked) || back.URL != e.URL {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

func FuzzPin(f *testing.F) {
	f.Add([]byte(`{"version":1,"name":"p","base":"http://h/","files":[{"name":"a","size":1,"sha256":"` + strings.Repeat("a", 64) + `","modTime":"2026-11-21T00:00:00Z"}]}`))
	f.Add([]byte(`{"version":1,"name":"p","base":"http://h/","files":[{"name":"../a","size":1,"sha256":"` + strings.Repeat("a", 64) + `"}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parsePin(raw)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, file := range p.Files {
			if checkName(file.Name) != nil || seen[file.Name] || !isHash(file.SHA256) {
				t.Fatalf("%+v", p)
			}
			seen[file.Name] = true
		}
		newSet(nil, p) // it ends, with a folder for each
	})
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-1/2", "bytes */2", "bytes 0-1/*", "bytes 1-0/2", "bytes 0-18446744073709551615/2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		first, last, size, ok := contentRange(v)
		if ok && (first < 0 || last < first || size <= last) || !ok && first+last+size != 0 {
			t.Fatalf("%q: %d-%d/%d %v", v, first, last, size, ok)
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add("max-age=1, no-cache", "1", "0")
	f.Add("max-age=-1", "x", "Sat, 21 Nov 2026 10:00:00 GMT")
	f.Fuzz(func(t *testing.T, control, age, expires string) {
		h := map[string][]string{"Cache-Control": {control}, "Age": {age}, "Expires": {expires}}
		if n := lifetime(h, time.Unix(1e9, 0)); n < unsaid {
			t.Fatalf("%v: %d", h, n)
		}
	})
}

// What a flush is asked for comes from people: no text panics, what is taken means itself, and
// an unclean one is refused.
func FuzzScope(f *testing.F) {
	for _, text := range []string{"", "/", "/debian/dists/", "https://deb.example/debian", "/a/../b", "/%2e", "http://h/a?b"} {
		f.Add(text, "http://deb.example/debian/a")
	}
	f.Fuzz(func(t *testing.T, text, at string) {
		s, err := parseScope("flush", text)
		if err != nil {
			return
		}
		s.has(at)
		if s.url != "" && (!s.has(s.url) || !s.has(s.url+"/x") || s.has(s.url+"x")) {
			t.Errorf("%q is %+v", text, s)
		}
		if s.path != "" {
			for at, want := range map[string]bool{"": true, "/x": true, "x": false} {
				if u := (&url.URL{Scheme: "http", Host: "h", Path: s.path + at}).String(); s.has(u) != want {
					t.Errorf("%q has %q: %t", text, u, !want)
				}
			}
		}
	})
}
