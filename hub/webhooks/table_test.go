package webhooks

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestJudge: each status means what the table in the comment says.
func TestJudge(t *testing.T) {
	table := doctable.Of(t, "verdict.go", "judge")
	for status := 100; status < 600; status++ {
		v, code := judge(status)
		name := string(code)
		if name == "" {
			name = "none"
		}
		answered := false
		for _, row := range rowsOf(status) {
			if out, n := table.Answer(row); n >= 0 {
				answered = true
				if !slices.Equal(out, []string{string(v), name}) {
					t.Errorf("%d is %s, %s, and by the table %q", status, v, code, out)
				}
				break
			}
		}
		if !answered {
			t.Errorf("no row of the table has %d", status)
		}
	}
}

// rowsOf are the first columns of rows that may be of a status, the narrowest first.
func rowsOf(status int) []string {
	single := map[int]string{410: "410"}
	for _, row := range []string{"400, 405, 406, 411, 413, 415, 422", "401, 403, 404, 407", "408, 425, 429"} {
		for s := range strings.SplitSeq(row, ", ") {
			n, _ := strconv.Atoi(s)
			single[n] = row
		}
	}
	out := []string{"another"}
	if status >= 200 && status < 400 || status >= 500 {
		out = []string{fmt.Sprintf("%d00-%d99", status/100, status/100)}
	}
	if row, is := single[status]; is {
		out = []string{row}
	}
	return out
}

// TestMissed: what was cut off between a place and what is there.
func TestMissed(t *testing.T) {
	for _, row := range []struct{ position, cut, first, want uint64 }{
		{5, 0, 9, 5},  // nothing was ever cut off
		{5, 5, 9, 5},  // up to the place
		{5, 8, 9, 8},  // three Indexes
		{5, 12, 9, 5}, // written down and not done yet
		{5, 12, 13, 12},
	} {
		if got := missed(row.position, row.cut, row.first); got != row.want {
			t.Errorf("%+v: %d", row, got)
		}
	}
}

// TestSign: the vector that Standard Webhooks has in its libraries, and whatever another program verifies.
func TestSign(t *testing.T) {
	secrets, err := ParseSecrets("# an old one\n\n " + oldSecret + " \r\n")
	if err != nil || len(secrets) != 1 {
		t.Fatal(secrets, err)
	}
	got := sign(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		var text string
		keys := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 24, 64), 1, MaxSecrets).Draw(t, "keys")
		for _, k := range keys {
			text += secretPrefix + base64.StdEncoding.EncodeToString(k) + "\n"
		}
		secrets, err := ParseSecrets(text)
		if err != nil {
			t.Fatal(err)
		}
		body, id, at := rapid.SliceOf(rapid.Byte()).Draw(t, "body"), rapid.StringMatching(`[a-z0-9-]{1,30}`).Draw(t, "id"), time.Now()
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
		h.Set("webhook-signature", sign(secrets, id, at, body))
		for _, k := range keys {
			other, err := standardwebhooks.NewWebhookRaw(k)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Verify(body, h); err != nil {
				t.Fatal(err)
			}
			if other.Verify(append(body, '!'), h) == nil {
				t.Fatal("another body is verified")
			}
		}
	})
}

func TestParseSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"": "no secret", "# none\n": "no secret", "canary": "line 1 is not", oldSecret + "\ncanary": "line 2 is not",
		secretPrefix + "canary=": "line 1 is not", secretPrefix + base64.StdEncoding.EncodeToString(make([]byte, 23)): "23 bytes",
		secretPrefix + base64.StdEncoding.EncodeToString(make([]byte, 65)): "65 bytes", strings.Repeat(oldSecret+"\n", 5): "5 secrets",
	} {
		if _, err := ParseSecrets(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for url, fits := range map[string]bool{
		"https://example.com": true, "https://example.com/a?b=c": true, "http://127.0.0.1:80/": true, "http://[::1]/": true, "http://localhost/": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "https://user:pw@example.com": false, "https://example.com/#a": false,
		"ftp://example.com": false, "example.com": false, "": false, "https://": false, "https://example.com/" + strings.Repeat("x", maxURL): false, "://": false,
	} {
		if err := CheckURL(url, false); (err == nil) != fits {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := CheckURL("http://example.com", true); err != nil {
		t.Error(err)
	}
	good := Hook{Name: "h"}
	for name, change := range map[string]func(*Hook){
		"name": func(h *Hook) { h.Name = "H!" }, "codes": func(h *Hook) { h.Codes = []resource.EventCode{"Nothing"} }, "racks": func(h *Hook) { h.Racks = []string{""} },
		"timeout": func(h *Hook) { h.Wait = time.Minute }, "giveUpAfter": func(h *Hook) { h.GiveUp = time.Second },
	} {
		h := good
		change(&h)
		if err := h.Check(); err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// TestPauses: they double up to five minutes, at least half of it for certain.
func TestPauses(t *testing.T) {
	most := func(d time.Duration) time.Duration { return d - 1 }
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 10: longPause, 1000: longPause} {
		if got := pauseAfter(failures, firstPause, most); got != want {
			t.Errorf("after %d at most %s, not %s", failures, got, want)
		}
		if got := pauseAfter(failures, firstPause, func(time.Duration) time.Duration { return 0 }); got != want/2 {
			t.Errorf("after %d at least %s, not %s", failures, got, want/2)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-1": 0, "soon": 0, "99999999": askedPause, "Fri, 27 Nov 2026 09:01:00 GMT": time.Minute, "Fri, 27 Nov 2026 08:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}

// FuzzRetryAfter: whatever a receiver says, the wait is bounded.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "30", "Fri, 27 Nov 2026 09:01:00 GMT", "-9223372036854775808", "1e9", "Mon, 01 Jan 0001 00:00:00 GMT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := retryAfter(http.Header{"Retry-After": {s}}, time.Now()); d < 0 || d > askedPause {
			t.Errorf("%s", d)
		}
	})
}

// FuzzParseSecrets: what is taken signs as another program verifies; no error quotes a file.
func FuzzParseSecrets(f *testing.F) {
	f.Add(oldSecret)
	f.Add("# x\n" + newSecret + "\r\n")
	f.Add("whsec_====")
	f.Fuzz(func(t *testing.T, s string) {
		secrets, err := ParseSecrets(s)
		if err != nil {
			return
		}
		if n := len(strings.Fields(sign(secrets, "id", time.Unix(1, 0), nil))); n != len(secrets) || n < 1 || n > MaxSecrets {
			t.Errorf("%d signatures of %d secrets", n, len(secrets))
		}
	})
}

// Letters are bounded by number and size; the oldest go, and are counted.
func TestLettersAreBounded(t *testing.T) {
	var l letters
	for i := range maxLetters + 5 {
		l = l.with(api.WebhookLetter{ID: fmt.Sprint(i), CloudEvent: []byte(`{}`)})
	}
	l = l.with(api.WebhookLetter{ID: "204", Attempts: 7, CloudEvent: []byte(`{}`)})
	if len(l.Items) != maxLetters || l.Dropped != 5 || l.Items[0].ID != "5" || l.Items[maxLetters-1].Attempts != 7 {
		t.Errorf("%d letters, %d dropped, the first is %s", len(l.Items), l.Dropped, l.Items[0].ID)
	}
	for i := range 5 {
		l = l.with(api.WebhookLetter{ID: fmt.Sprint("big", i), CloudEvent: []byte(`"` + strings.Repeat("x", 100<<10) + `"`)})
	}
	if size := l.size(); size > maxLetterBytes || len(l.Items) < 2 || l.Items[len(l.Items)-1].ID != "big4" {
		t.Errorf("%d letters of %d bytes", len(l.Items), size)
	}
}
