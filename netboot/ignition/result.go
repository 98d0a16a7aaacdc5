package ignition

import (
	"strconv"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_0"
	"github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/vcontext/report"
)

// checkResult asks the library whether a configuration of specification 3 is valid.
func checkResult(raw []byte) *Refusal {
	if _, errs := checkJSON(raw); len(errs) > 0 {
		return refuse(Invalid, errs[0].Path, errs[0].Message)
	}
	return nil
}

// checkLifted does so with a lifted stub. What is wrong is told with the paths of the
// stub as it was given.
func (s *source) checkLifted(raw []byte, to string) *Refusal {
	if to == lowest3 {
		if _, r, err := v3_6.ParseCompatibleVersion(raw); err != nil || r.IsFatal() {
			return s.firstProblem(r)
		}
		return nil
	}
	// The library of 3.0.0 warns of what it does not know.
	_, r, err := v3_0.Parse(raw)
	if err != nil || r.IsFatal() {
		return s.firstProblem(r)
	}
	for _, e := range r.Entries {
		if key, ok := strings.CutPrefix(e.Message, "unused key "); ok {
			return refuse(TooNew, s.origin(pathOf(e.Context)+"."+key), "needs specification "+lowest3+", and the image reads "+to)
		}
	}
	return nil
}

func (s *source) firstProblem(r report.Report) *Refusal {
	first := problems(r)[0]
	return refuse(Invalid, s.origin(first.Path), first.Message)
}

// origin is the path in the stub of what has the path in the result.
func (s *source) origin(path string) string {
	if rest, ok := strings.CutPrefix(path, "$.ignition.config.merge"); ok {
		return "$.ignition.config.append" + rest
	}
	if i, rest, ok := element(path, "$.storage.files["); ok && i < len(s.files) {
		return s.files[i] + rest
	}
	if i, rest, ok := element(path, "$.storage.filesystems["); ok && i < len(s.kept) {
		if rest != "" {
			rest = s.mount + rest
		}
		return s.filesystems[s.kept[i]] + rest
	}
	return path
}

// element takes a path of an element apart: its index, and what follows.
func element(path, prefix string) (index int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(rest, "]")
	index, err := strconv.Atoi(number)
	return index, rest, ok && err == nil
}
