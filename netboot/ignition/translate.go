package ignition

import (
	"encoding/json"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TranslateOptions say what the result is for.
type TranslateOptions struct {
	// Max is the highest specification that the image reads, such as 3.4.0; "" is the
	// newest that is known.
	Max string
	// AcceptLoss lets go what specification 3 has no words for; Translated.Lost has it.
	AcceptLoss bool
	// ReplaceCA is a PEM bundle of certificates that takes the place of all certificate
	// authorities; "" leaves them.
	ReplaceCA string
}

// Translated is a stub that the image reads.
type Translated struct {
	Config   []byte
	From, To string // specifications: 1, 2.0.0 to 2.4.0, 3.0.0 and newer
	Lost     []Loss
	// Changed is false if Config is the stub byte for byte: of a specification that the
	// image reads, with nothing replaced.
	Changed bool
}

// Translate makes a stub what an image reads: specification 1 and 2.0 to 2.4 becomes the
// lowest of specification 3 that says the same, and what the image reads already stays
// as it is. Butane is rendered first. Configurations that the stub includes by data: URLs
// are translated with it; those that servers fetch from elsewhere cannot be.
//
// Errors are invalid and wrap a *[Refusal]. The result is valid by the library of its
// specification. It has secrets, as the stub has; neither errors nor Lost have any.
func Translate(raw []byte, o TranslateOptions) (Translated, error) {
	if o.Max == "" {
		o.Max = newest()
	}
	if !resource.ValidIgnitionVersion(o.Max) {
		return Translated{}, protocol.Errorf(protocol.CodeInvalid, opTranslate, "%.16q is no version of the Ignition specification", o.Max).
			WithHint("give one of %s", strings.Join(slices.Concat(versions2, versions3), ", "))
	}
	var authorities []string
	if o.ReplaceCA != "" {
		var err error
		if authorities, err = authoritySources(o.ReplaceCA); err != nil {
			return Translated{}, err
		}
	}
	t := translation{max: o.Max, authorities: authorities, left: new(maxInline)}
	out, r := t.run(raw)
	if r == nil && len(out.Lost) > 0 && !o.AcceptLoss {
		r = refuse(WouldLose, out.Lost[0].Path, "would lose "+out.Lost[0].What)
		r.Lost = out.Lost
	}
	if r != nil {
		return Translated{}, r.failed(opTranslate)
	}
	return out, nil
}

func (tr translation) run(raw []byte) (Translated, *Refusal) {
	t, config, rendered, r := stubTree(raw)
	if r != nil {
		return Translated{}, r
	}
	h, r := headOf(t)
	if r != nil {
		return Translated{}, r
	}
	to := goal(h.major, majorOr3(tr.max), above(h.version, tr.max))
	out := Translated{Config: config, From: h.version, To: to, Changed: rendered}
	switch to {
	case string(TooNew):
		return Translated{}, refuse(TooNew, "$.ignition.version", "is above "+tr.max+", the highest that the image reads")
	case asItIs:
		out.To = h.version
		r = checkKept(t, h, config)
	default:
		t, out.Lost, r = lift(t, h, to)
		out.Changed = true
	}
	if r != nil {
		return Translated{}, r
	}
	changed, lost, r := tr.included(t, h)
	if r != nil {
		return Translated{}, r
	}
	out.Lost = append(out.Lost, lost...)
	if len(tr.authorities) > 0 {
		replaced, r := tr.replaceAuthorities(t, out.To)
		if r != nil {
			return Translated{}, r
		}
		changed = changed || replaced
	}
	if out.Changed = out.Changed || changed; !out.Changed {
		return out, nil
	}
	if out.Config = append(t.bytes(), '\n'); len(out.Config) > maxBytes {
		return Translated{}, refuse(Invalid, "$", tooLong)
	}
	return out, checkResult(out.Config)
}

// majorOr3 is 2 for every version of specification 2, as goal has it.
func majorOr3(version string) string {
	if strings.HasPrefix(version, "2") {
		return "2"
	}
	return version
}

// checkKept refuses what is not valid though the image would read it.
func checkKept(t *tree, h head, config []byte) *Refusal {
	if h.major == "3" {
		return checkResult(config)
	}
	_, r := read(t, h)
	return r
}

func read(t *tree, h head) (*source, *Refusal) {
	if h.major == "1" {
		return read1(t)
	}
	return read2(t, h.version, h.minor)
}

// lift writes a stub of specification 1 or 2 in words of 3.
func lift(t *tree, h head, to string) (*tree, []Loss, *Refusal) {
	s, r := read(t, h)
	if r != nil {
		return nil, nil, r
	}
	if r := s.judge(); r != nil {
		return nil, nil, r
	}
	raw, err := json.Marshal(s.convert())
	if err != nil {
		return nil, nil, refuse(Invalid, "$", notValid)
	}
	out, r := parseTree(raw)
	if r != nil {
		return nil, nil, r
	}
	out.prune()
	out.set(str(to), "ignition", "version")
	if r := s.checkLifted(out.bytes(), to); r != nil {
		return nil, nil, r
	}
	return out, s.lost, nil
}
