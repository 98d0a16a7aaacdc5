package mirror

import (
	"net/http"
	"strings"
	"time"
)

// unsaid is the lifetime of an answer that says nothing of it.
const unsaid = -1

// directives are those of a Cache-Control header (RFC 9111 section 5.2.2) that matter
// to a cache of one site's own.
type directives struct {
	noStore, noCache bool
	maxAge           int64 // seconds; unsaid
}

// cacheControl reads the header's fields. What is malformed counts as the stricter.
func cacheControl(fields []string) directives {
	d := directives{maxAge: unsaid}
	for _, f := range fields {
		for part := range strings.SplitSeq(f, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "no-store":
				d.noStore = true
			case "no-cache":
				d.noCache = true
			case "max-age":
				n, ok := decimal(strings.Trim(strings.TrimSpace(value), `"`))
				if !ok {
					n = 0
				}
				if d.maxAge == unsaid || n < d.maxAge {
					d.maxAge = n
				}
			}
		}
	}
	return d
}

// lifetime is for how many seconds from now on an answer may be used without asking
// again (RFC 9111 section 4.2), or unsaid. now is when it came.
func lifetime(h http.Header, now time.Time) int64 {
	d := cacheControl(h.Values("Cache-Control"))
	switch {
	case d.noStore, d.noCache, h.Get("Vary") == "*":
		return 0
	case d.maxAge != unsaid:
		age, ok := decimal(h.Get("Age"))
		if !ok {
			age = 0
		}
		return max(0, d.maxAge-age)
	case h.Get("Expires") != "":
		expires, err := http.ParseTime(h.Get("Expires"))
		if err != nil {
			return 0 // section 5.3: an invalid date, such as 0, is the past
		}
		date, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			date = now
		}
		return max(0, int64(expires.Sub(date)/time.Second))
	}
	return unsaid
}

// fresh says whether an entry may be used without asking, if what says nothing is fresh
// for that long. A time of check that is to come is of a clock that was wrong.
func (e entry) fresh(now time.Time, otherwise time.Duration) bool {
	age := now.Sub(e.Checked)
	if e.Lifetime == unsaid {
		return age >= 0 && age < otherwise
	}
	return age >= 0 && int64(age/time.Second) < e.Lifetime
}

// validator is what identifies the bytes of an answer, for If-Range (RFC 9110 section
// 13.1.5): a strong ETag, or a date that is as good (section 8.8.2.2, with a minute in
// place of a second for servers whose clocks disagree); empty if it has none.
func validator(h http.Header) string {
	if tag := strongTag(h.Get("ETag")); tag != "" {
		return tag
	}
	if h.Get("ETag") != "" {
		return ""
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || date.Sub(modified) < time.Minute {
		return ""
	}
	return h.Get("Last-Modified")
}

// strongTag is an ETag if it is well formed and strong, else empty.
func strongTag(tag string) string {
	if len(tag) < 2 || !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) || strings.ContainsAny(tag[1:len(tag)-1], "\"\x7f ") {
		return ""
	}
	return tag
}
