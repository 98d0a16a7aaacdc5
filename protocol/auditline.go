package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// maxAuditSeq is the greatest integer that every reader of JSON keeps (RFC 8785,
// section 3.2.2.3).
const maxAuditSeq = 1<<53 - 1

// Canonical is the JSON of the entry without hash and signed, in the one form that RFC
// 8785 gives it: keys sorted, no white space, the shortest escapes. Fields that are
// empty are left out, but for at, op, outcome and seq.
func (e AuditEntry) Canonical() []byte { return e.encode(false) }

// Line is the entry as it stands in the log: the same form with hash and signed,
// without the line's end.
func (e AuditEntry) Line() []byte { return e.encode(true) }

// Sum is what Hash must be.
func (e AuditEntry) Sum() string {
	sum := sha256.Sum256(e.Canonical())
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseAuditLine reads a line of the log, without its end. There is one line for one
// entry, so that not even a space can be changed unseen; whether the entry is the one
// that was written is for its Sum to say. Errors: invalid.
func ParseAuditLine(line []byte) (AuditEntry, error) {
	const op = "read audit entry"
	var e AuditEntry
	if len(line) > MaxAuditLine {
		return AuditEntry{}, Errorf(CodeInvalid, op, "the line is longer than %d bytes", MaxAuditLine)
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return AuditEntry{}, Errorf(CodeInvalid, op, "the line is no entry: %w", err)
	}
	if y := e.At.Year(); e.Seq == 0 || e.Seq > maxAuditSeq || y < 0 || y > 9999 {
		return AuditEntry{}, Errorf(CodeInvalid, op, "the entry's number or time is out of range")
	}
	if !bytes.Equal(e.Line(), line) {
		return AuditEntry{}, Errorf(CodeInvalid, op, "the line is not in the one form of its entry")
	}
	return e, nil
}

func (e AuditEntry) encode(whole bool) []byte {
	b := append(make([]byte, 0, 512), `{"at":`...)
	b = appendText(b, e.At.UTC().Format(time.RFC3339Nano))
	text := func(key, value string, always bool) {
		if value != "" || always {
			b = append(append(append(b, `,"`...), key...), `":`...)
			b = appendText(b, value)
		}
	}
	text("caller", e.Caller, false)
	text("code", string(e.Code), false)
	text("detail", e.Detail, false)
	text("from", e.From, false)
	if whole {
		text("hash", e.Hash, true)
	}
	text("op", e.Op, true)
	text("outcome", string(e.Outcome), true)
	text("prev", e.Prev, false)
	text("reason", e.Reason, false)
	for i, r := range e.Roles {
		if i == 0 {
			b = append(b, `,"roles":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(b, r)
	}
	if len(e.Roles) > 0 {
		b = append(b, ']')
	}
	b = strconv.AppendUint(append(b, `,"seq":`...), e.Seq, 10)
	if whole && len(e.Signed) > 0 {
		text("signed", base64.StdEncoding.EncodeToString(e.Signed), false)
	}
	text("target", e.Target, false)
	return append(b, '}')
}

// appendText writes a string as RFC 8785, section 3.2.2.2, wants it.
func appendText(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
