package resource

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"rackboot/protocol"
)

// AnnotationReboot is metal3's reboot annotation. By itself it asks for one reboot;
// with a slash and a key it holds the server off (seed 003).
const AnnotationReboot = "reboot.metal3.io"

// AnnotationTry is of Segments. Agents that rolled a change back try it once more when
// its value is another than it was; it means nothing else.
const AnnotationTry = "rackboot/try"

// maxTry bounds its value in bytes: it travels with every document.
const maxTry = 64

// maxAnnotation bounds the value in bytes: it is kept as the ref of what it becomes.
const maxAnnotation = 1024

// RebootAnnotation is what a reboot annotation asks for.
type RebootAnnotation struct {
	// Key is what follows the slash; empty in the basic form, which asks for one
	// reboot.
	Key  string
	Mode StopMode
	// Force asks for the reboot in any phase. A hold acts in any phase as it is.
	Force bool
}

// ParseRebootAnnotation reads a reboot annotation of metal3 and its value. The value
// is strict JSON:
//
//	empty, null or {}         a soft stop
//	{"mode":"soft"}           likewise; so are null and "" in place of "soft"
//	{"mode":"hard"}           power off at once
//	{"mode":M,"force":true}   in any phase
//	{'mode':'hard'}           the form of metal3's own examples, which write ' for "
//
// White space of JSON may stand around and within it. Anything else is refused, since
// nobody who misspells "hard" wants a soft stop: other modes, fields, types and cases
// (MODE, Hard), a field that is there twice, text after the value, control characters,
// and what is longer than 1024 bytes. The error's code is invalid; its hint has the
// forms that are accepted.
func ParseRebootAnnotation(annotation, value string) (RebootAnnotation, error) {
	refuse := func(format string, args ...any) (RebootAnnotation, error) {
		return RebootAnnotation{}, protocol.Errorf(protocol.CodeInvalid, "read the annotation", format, args...).
			WithHint(`nothing was changed; give %s or %s/KEY, and as value nothing, {"mode":"soft"} or {"mode":"hard"}`, AnnotationReboot, AnnotationReboot)
	}
	out := RebootAnnotation{Mode: StopSoft}
	if key, keyed := strings.CutPrefix(annotation, AnnotationReboot+"/"); keyed {
		if !validHoldKey(key) {
			return refuse("%q is not a key after %s/: use 1 to 128 characters without white space and control characters", key, AnnotationReboot)
		}
		out.Key = key
	} else if annotation != AnnotationReboot {
		return refuse("%q is no reboot annotation", annotation)
	}
	if len(value) > maxAnnotation {
		return refuse("the value is longer than %d bytes", maxAnnotation)
	}
	if bad := strings.IndexFunc(value, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(jsonSpace, r) }); bad >= 0 || !utf8.ValidString(value) {
		return refuse("the value has control characters, or is not UTF-8")
	}
	text := strings.Trim(value, jsonSpace)
	if text == "" || text == "null" {
		return out, nil
	}
	if strings.HasPrefix(text, "{") && !strings.ContainsAny(text, `"\`) {
		text = strings.ReplaceAll(text, "'", `"`) // the seeds' form, if it is one throughout
	}
	if problem := readAnnotation(text, &out); problem != "" {
		return refuse("the value %q %s", value, problem)
	}
	return out, nil
}

// jsonSpace is the white space of JSON (RFC 8259, section 2).
const jsonSpace = " \t\r\n"

// readAnnotation reads the object and says what is wrong with it. encoding/json by
// itself passes over unknown fields, takes the last of two and ignores case.
func readAnnotation(text string, out *RebootAnnotation) (problem string) {
	if !json.Valid([]byte(text)) {
		return "is not JSON"
	}
	d := json.NewDecoder(strings.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return "is no JSON object"
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "is not JSON"
		}
		field, _ := name.(string)
		if seen[field] {
			return fmt.Sprintf("has %q twice", field)
		}
		seen[field] = true
		v, err := d.Token()
		if err != nil {
			return "is not JSON"
		}
		if problem := out.set(field, v); problem != "" {
			return problem
		}
	}
	return ""
}

func (a *RebootAnnotation) set(field string, v any) (problem string) {
	switch field {
	case "mode":
		mode, isText := v.(string)
		switch {
		case v == nil, isText && mode == "":
		case isText && (StopMode(mode) == StopSoft || StopMode(mode) == StopHard):
			a.Mode = StopMode(mode)
		default:
			return fmt.Sprintf("has the mode %v, which is neither soft nor hard", v)
		}
	case "force":
		force, is := v.(bool)
		if v != nil && !is {
			return fmt.Sprintf("has %v for force, which is neither true nor false", v)
		}
		a.Force = force
	default:
		if l := strings.ToLower(field); l == "mode" || l == "force" {
			return fmt.Sprintf("has the field %q; it is written %q", field, l)
		}
		return fmt.Sprintf("has the field %q, which is neither mode nor force", field)
	}
	return ""
}
