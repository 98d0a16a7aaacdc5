package mirror

import (
	"net/http"
	"testing"
	"time"

	"rackboot/internal/doctable"
)

func TestFirstTable(t *testing.T) {
	doctable.Of(t, "decide.go", "first").Hold(t, [][]string{doctable.Words(keptFresh, keptStale, keptNone), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(first(kept(in[0]), in[1] == "yes", in[2] == "yes"))
		})
}

func TestJudgeTable(t *testing.T) {
	doctable.Of(t, "decide.go", "judge").Hold(t, [][]string{doctable.Words(answers...), doctable.YesNo()},
		func(in []string) []string { return doctable.Words(judge(answer(in[0]), in[1] == "yes")) })
}

func TestMayFlushTable(t *testing.T) {
	doctable.Of(t, "decide.go", "mayFlush").Hold(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(mayFlush(in[0] == "yes", in[1] == "yes", in[2] == "yes"))
		})
}

func TestRedirectTable(t *testing.T) {
	schemes := []string{"http", "https"}
	doctable.Of(t, "decide.go", "redirect").Hold(t, [][]string{doctable.YesNo(), schemes, append(schemes, "other"), doctable.YesNo(), {hostOwn, hostListed, hostOther}},
		func(in []string) []string {
			return doctable.Words(redirect(in[0] == "yes", in[1], in[2], in[3] == "yes", in[4]))
		})
}

func TestLifetime(t *testing.T) {
	now, err := http.ParseTime("Sat, 21 Nov 2026 10:00:00 GMT")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		source string // in RFC 9111
		header http.Header
		want   int64
	}{
		{"4.2.2, nothing said", http.Header{}, unsaid},
		{"5.2.2.1", http.Header{"Cache-Control": {"max-age=60"}}, 60},
		{"5.2, any case, spaces, quotes", http.Header{"Cache-Control": {`public , Max-Age = "60"`}}, 60},
		{"4.2.1, several are the smallest", http.Header{"Cache-Control": {"max-age=60", "max-age=30"}}, 30},
		{"4.2.1, invalid is stale", http.Header{"Cache-Control": {"max-age=ages"}}, 0},
		{"1.2.2, too large is stale here", http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, 0},
		{"5.1, Age is taken off", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"20"}}, 40},
		{"5.1, older than it may be", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"90"}}, 0},
		{"5.1, a malformed Age is none", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"-20"}}, 60},
		{"5.2.2.4", http.Header{"Cache-Control": {"no-cache, max-age=60"}}, 0},
		{"5.2.2.5", http.Header{"Cache-Control": {"no-store"}}, 0},
		{"5.2.2.10, s-maxage is for shared caches", http.Header{"Cache-Control": {"s-maxage=1, max-age=60"}}, 60},
		{"5.2.2.7, private is ours", http.Header{"Cache-Control": {"private, max-age=60"}}, 60},
		{"5.3", http.Header{"Expires": {"Sat, 21 Nov 2026 10:02:00 GMT"}, "Date": {"Sat, 21 Nov 2026 10:00:30 GMT"}}, 90},
		{"5.3, without Date", http.Header{"Expires": {"Sat, 21 Nov 2026 10:02:00 GMT"}}, 120},
		{"5.3, past", http.Header{"Expires": {"Sat, 21 Nov 2026 09:00:00 GMT"}}, 0},
		{"5.3, invalid is the past", http.Header{"Expires": {"0"}}, 0},
		{"5.3, max-age wins", http.Header{"Expires": {"0"}, "Cache-Control": {"max-age=60"}}, 60},
		{"4.1, Vary: * never matches", http.Header{"Vary": {"*"}, "Cache-Control": {"max-age=60"}}, 0},
	} {
		if got := lifetime(c.header, now); got != c.want {
			t.Errorf("%s: %d, want %d", c.source, got, c.want)
		}
	}
}

func TestFresh(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		e    entry
		want bool
	}{
		{"said, within", entry{Checked: now.Add(-59 * time.Second), Lifetime: 60}, true},
		{"said, after", entry{Checked: now.Add(-60 * time.Second), Lifetime: 60}, false},
		{"said, never", entry{Checked: now, Lifetime: 0}, false},
		{"unsaid, within", entry{Checked: now.Add(-time.Minute + 1), Lifetime: unsaid}, true},
		{"unsaid, after", entry{Checked: now.Add(-time.Minute), Lifetime: unsaid}, false},
		{"the clock was put back", entry{Checked: now.Add(time.Second), Lifetime: 60}, false},
	} {
		if got := c.e.fresh(now, time.Minute); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestValidator(t *testing.T) {
	const at, later, soon = "Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:01:00 GMT", "Sat, 21 Nov 2026 10:00:59 GMT"
	for _, c := range []struct {
		source string // in RFC 9110
		header http.Header
		want   string
	}{
		{"8.8.3, strong", http.Header{"Etag": {`"a"`}}, `"a"`},
		{"8.8.3, empty is one", http.Header{"Etag": {`""`}}, `""`},
		{"13.1.5, weak identifies nothing", http.Header{"Etag": {`W/"a"`}}, ""},
		{"13.1.5, weak, though with a date", http.Header{"Etag": {`W/"a"`}, "Last-Modified": {at}, "Date": {later}}, ""},
		{"8.8.3, unquoted is none", http.Header{"Etag": {`a`}}, ""},
		{"8.8.3, a quote inside is none", http.Header{"Etag": {`"a"b"`}}, ""},
		{"8.8.2.2, old enough", http.Header{"Last-Modified": {at}, "Date": {later}}, at},
		{"8.8.2.2, changed a moment ago", http.Header{"Last-Modified": {at}, "Date": {soon}}, ""},
		{"8.8.2.2, without Date", http.Header{"Last-Modified": {at}}, ""},
		{"nothing", http.Header{}, ""},
	} {
		if got := validator(c.header); got != c.want {
			t.Errorf("%s: %q, want %q", c.source, got, c.want)
		}
	}
}
