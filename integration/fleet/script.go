package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Step is a line of a script.
type Step struct {
	Line int
	Text string // as it was written, without what is beside it
	Do   verb

	Share Share
	Code  resource.AttemptCode // how boots fail
	Off   int                  // servers of a rack; below 0 is all
	For   time.Duration        // over, within, or how long
	N     int                  // holds
	Rate  float64
	State State
	Label string
}

// verb is what a step does.
type verb string

const (
	doClaim   verb = "claim"
	doFail    verb = "fail"
	doSilence verb = "silence"
	doLose    verb = "lose"
	doReturn  verb = "return"
	doWait    verb = "wait"
	doHolds   verb = "holds"
	doPlace   verb = "place"
	doRelease verb = "release"
	doNews    verb = "news"
	doRun     verb = "run"
	doFigure  verb = "figure"
)

// The bounds of a script.
const (
	MaxScript = 64 << 10 // bytes
	maxSteps  = 1000
	maxTime   = 24 * time.Hour
)

// grammar is a verb with its words: those that it needs, in order, and those that it may have, as name=value.
type grammar struct {
	do       verb
	needs    []word
	mayHave  []word
	defaults Step
}

// word reads one word into a step.
type word struct {
	name string
	read func(*Step, string) error
}

// verbs are what a line may say. docs/guide/simulator.md has the same list.
func verbs() []grammar {
	over := word{"over", readTime(0)}
	return []grammar{
		{do: doClaim, needs: []word{{"SHARE", readRacks}}},
		{do: doFail, needs: []word{{"PERCENT", readPercent}}, mayHave: []word{{"by", readFailure}}, defaults: Step{Code: resource.AttemptNoDHCP}},
		{do: doSilence, needs: []word{{"PERCENT", readPercent}}},
		{do: doLose, needs: []word{{"SHARE", readRacks}}, mayHave: []word{{"off", readOff}}, defaults: Step{Off: -1}},
		{do: doReturn, mayHave: []word{over}},
		{do: doWait, needs: []word{{"STATE", readState}}, mayHave: []word{{"within", readTime(time.Second)}}},
		{do: doHolds, needs: []word{{"COUNT", readHolds}}, mayHave: []word{over}, defaults: Step{For: 10 * time.Second}},
		{do: doPlace, needs: []word{{"COUNT", readHolds}}},
		{do: doRelease},
		{do: doNews, needs: []word{{"RATE", readRate}}},
		{do: doRun, needs: []word{{"DURATION", readTime(time.Millisecond)}}},
		{do: doFigure, needs: []word{{"LABEL", func(s *Step, text string) error { s.Label = text; return nil }}}},
	}
}

// String is how a line of the verb looks.
func (g grammar) String() string {
	out := []string{string(g.do)}
	for _, w := range g.needs {
		out = append(out, w.name)
	}
	for _, w := range g.mayHave {
		out = append(out, "["+w.name+"=…]")
	}
	return strings.Join(out, " ")
}

// ParseScript reads a script: a step on each line, its words separated by spaces; # begins a comment. Errors are
// invalid, and name the line.
func ParseScript(text []byte) (steps []Step, err error) {
	const op = "read the script"
	if len(text) > MaxScript {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has more than %d KiB", MaxScript>>10)
	}
	n, lost := 0, false
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s, err := parseStep(words)
		switch {
		case err != nil:
		case s.Do == doReturn && !lost:
			err = protocol.Errorf(protocol.CodeInvalid, "", "no rack has lost power before it")
		case len(steps) == maxSteps:
			err = protocol.Errorf(protocol.CodeInvalid, "", "there are more than %d steps", maxSteps)
		}
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "line %d: %w", n, err).WithHint("%s", protocol.HintOf(err))
		}
		lost = lost || s.Do == doLose
		s.Line, s.Text = n, strings.Join(words, " ")
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has no step")
	}
	return steps, nil
}

func parseStep(words []string) (s Step, err error) {
	all := verbs()
	i := slices.IndexFunc(all, func(g grammar) bool { return string(g.do) == words[0] })
	if i < 0 {
		var names []string
		for _, g := range all {
			names = append(names, string(g.do))
		}
		return s, protocol.Errorf(protocol.CodeInvalid, "", "%q is no step", words[0]).WithHint("a line begins with one of: %s", strings.Join(names, ", "))
	}
	g := all[i]
	s = g.defaults
	s.Do = g.do
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "", "%s: %s", g.do, fmt.Sprintf(format, args...)).WithHint("it is: %s", g)
	}
	words = words[1:]
	for _, w := range g.needs {
		if len(words) == 0 {
			return s, bad("%s is missing", w.name)
		}
		if err := w.read(&s, words[0]); err != nil {
			return s, bad("%s: %v", w.name, err)
		}
		words = words[1:]
	}
	had := map[string]bool{}
	for _, text := range words {
		name, value, _ := strings.Cut(text, "=")
		i := slices.IndexFunc(g.mayHave, func(w word) bool { return w.name == name })
		switch {
		case i < 0:
			return s, bad("%q is too much", text)
		case had[name]:
			return s, bad("%s is given twice", name)
		}
		had[name] = true
		if err := g.mayHave[i].read(&s, value); err != nil {
			return s, bad("%s: %v", name, err)
		}
	}
	return s, nil
}

func readRacks(s *Step, text string) (err error) {
	if s.Share, err = parseShare(text); err == nil && s.Share == (Share{}) {
		err = fmt.Errorf("%q is no rack", text)
	}
	return err
}

func readPercent(s *Step, text string) (err error) {
	if s.Share, err = parseShare(text); err == nil && s.Share.Count > 0 {
		err = fmt.Errorf("%q is no percentage", text)
	}
	return err
}

func readFailure(s *Step, text string) (err error) {
	s.Code, err = parseFailure(text)
	return err
}

func readState(s *Step, text string) (err error) {
	s.State, err = parseState(text)
	return err
}

func readOff(s *Step, text string) (err error) {
	if text == "all" {
		s.Off = -1
		return nil
	}
	s.Off, err = readCount(text, 0, MaxRacks)
	return err
}

func readHolds(s *Step, text string) (err error) {
	s.N, err = readCount(text, 1, maxHolds)
	return err
}

func readCount(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not %d to %d", text, least, most)
	}
	return n, nil
}

func readRate(s *Step, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= maxNews) {
		return fmt.Errorf("%q is not 0 to %d per second", text, maxNews)
	}
	s.Rate = n
	return nil
}

func readTime(least time.Duration) func(*Step, string) error {
	return func(s *Step, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > maxTime {
			return fmt.Errorf("%q is not a time of %s to %s, such as 90s", text, least, maxTime)
		}
		s.For = d
		return nil
	}
}
