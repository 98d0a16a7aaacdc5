package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func auditExample() AuditEntry {
	return AuditEntry{
		Seq: 7, At: time.Date(2026, 11, 20, 9, 30, 0, 120_000_000, time.UTC), Caller: "ha", Roles: []string{"fencer", "viewer"},
		From: "192.0.2.7", Op: "hold", Target: "Server/n1", Reason: "line 1\n\"2\" \\ \u2028 <ä>\x1f", Outcome: AuditRefused, Code: CodeDenied,
		Detail: "no", Prev: "sha256:aa", Hash: "sha256:bb", Signed: []byte{1, 2, 3},
	}
}

// The form is that of RFC 8785: keys sorted (section 3.2.3), the shortest escapes
// (section 3.2.2.2), everything else as it is.
func TestAuditCanonical(t *testing.T) {
	want := `{"at":"2026-11-20T09:30:00.12Z","caller":"ha","code":"denied","detail":"no","from":"192.0.2.7","op":"hold","outcome":"refused","prev":"sha256:aa",` +
		"\"reason\":\"line 1\\n\\\"2\\\" \\\\ \u2028 <ä>\\u001f\"" + `,"roles":["fencer","viewer"],"seq":7,"target":"Server/n1"}`
	e := auditExample()
	if diff := cmp.Diff(want, string(e.Canonical())); diff != "" {
		t.Error(diff)
	}
	sum := sha256.Sum256([]byte(want))
	if got := e.Sum(); got != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Error(got)
	}
	back, err := ParseAuditLine(e.Line())
	if diff := cmp.Diff(e, back); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got, want := string(AuditEntry{Seq: 1}.Canonical()), `{"at":"0001-01-01T00:00:00Z","op":"","outcome":"","seq":1}`; got != want {
		t.Errorf("an empty entry: %s", got)
	}
}

// There is one line for one entry.
func TestParseAuditLineRefuses(t *testing.T) {
	good := string(auditExample().Line())
	for name, line := range map[string]string{
		"empty":              "",
		"a space":            strings.Replace(good, `"op":`, `"op": `, 1),
		"a space after it":   good + " ",
		"CRLF":               good + "\r",
		"a key twice":        strings.Replace(good, `"op":"hold"`, `"op":"hold","op":"hold"`, 1),
		"a key in capitals":  strings.Replace(good, `"op":`, `"OP":`, 1),
		"a key that is none": strings.Replace(good, `"op":`, `"on":1,"op":`, 1),
		"another order":      strings.Replace(good, `"op":"hold","outcome":"refused"`, `"outcome":"refused","op":"hold"`, 1),
		"an escape":          strings.Replace(good, `"hold"`, `"\u0068old"`, 1),
		"a zone":             strings.Replace(good, "09:30:00.12Z", "10:30:00.12+01:00", 1),
		"zeros":              strings.Replace(good, "00.12Z", "00.120Z", 1),
		"no roles":           strings.Replace(good, `["fencer","viewer"]`, `[]`, 1),
		"null":               strings.Replace(good, `"ha"`, `null`, 1),
		"number 0":           strings.Replace(good, `"seq":7`, `"seq":0`, 1),
		"number 2^53":        strings.Replace(good, `"seq":7`, `"seq":9007199254740992`, 1),
		"a fraction":         strings.Replace(good, `"seq":7`, `"seq":7.0`, 1),
		"base64 with rest":   strings.Replace(good, `"AQID"`, `"AQJ="`, 1),
		"no UTF-8":           strings.Replace(good, `"no"`, "\"\xff\"", 1),
		"half a surrogate":   strings.Replace(good, `"no"`, `"\ud800"`, 1),
		"an array":           "[" + good + "]",
		"too long":           strings.Replace(good, `"no"`, `"`+strings.Repeat("x", MaxAuditLine)+`"`, 1),
	} {
		if line == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := ParseAuditLine([]byte(line)); CodeOf(err) != CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAuditBounded(t *testing.T) {
	long := strings.Repeat("ä\x00\xff", 5000)
	e := AuditEntry{
		Seq: maxAuditSeq, At: time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", -3600)).AddDate(-1, 0, 0),
		Caller: long, From: long, Op: long, Target: long, Reason: long, Outcome: AuditOutcome(long), Code: Code(long), Detail: long,
		Prev: auditExample().Sum(), Hash: auditExample().Sum(), Signed: make([]byte, 300),
	}
	for range 20 {
		e.Roles = append(e.Roles, long)
	}
	got := e.Bounded()
	for _, s := range append([]string{got.Caller, got.From, got.Op, got.Target}, got.Roles...) {
		if len(s) > MaxAuditName || !utf8.ValidString(s) || !strings.HasSuffix(s, "...") {
			t.Errorf("%d bytes, %q", len(s), s[len(s)-5:])
		}
	}
	if len(got.Detail) > MaxAuditDetail || len(got.Reason) > MaxAuditDetail || len(got.Roles) != MaxAuditRoles || len(e.Roles) != 20 {
		t.Errorf("%d, %d, %d", len(got.Detail), len(got.Reason), len(got.Roles))
	}
	line := got.Line()
	back, err := ParseAuditLine(line)
	if diff := cmp.Diff(got, back); err != nil || diff != "" || len(line) > MaxAuditLine {
		t.Errorf("a line of %d bytes: %v %s", len(line), err, diff)
	}
	if short := auditExample().Bounded(); !cmp.Equal(short, auditExample()) {
		t.Error("what is within its bounds was changed")
	}
}

// Whatever is read is written the same, byte for byte.
func FuzzAuditLine(f *testing.F) {
	f.Add(auditExample().Line())
	f.Add([]byte(`{"at":"0001-01-01T00:00:00Z","hash":"","op":"","outcome":"","seq":1}`))
	f.Add([]byte(`{"at":"-001-01-01T00:00:00Z","seq":1e3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseAuditLine(line)
		if err != nil {
			return
		}
		if !bytes.Equal(e.Line(), line) || !utf8.Valid(line) {
			t.Errorf("%q is read as %q", line, e.Line())
		}
	})
}
