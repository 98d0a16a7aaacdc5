package bootenv

import (
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Bounds of regular expressions.
const (
	maxPattern   = 4 << 10  // bytes
	maxRegexWork = 32 << 20 // instructions of the pattern times bytes of the text
	maxRegexText = 1 << 20  // groups of the pattern times bytes of the text
	compileWork  = 512      // bytes of text that take as long as making the pattern
)

// regexGuards lists the guards of the functions on regular expressions. Go's take time
// that grows with pattern and text, which cannot be interrupted. The text is the second
// argument of all.
func regexGuards() map[string]guard {
	text := func(m *meter, a []reflect.Value) error {
		_, err := m.regexWork(a[0].String(), a[1].String())
		return err
	}
	replace := func(m *meter, a []reflect.Value) error {
		pattern, s, by := a[0].String(), a[1].String(), a[2].String()
		re, err := m.regexWork(pattern, s)
		if err != nil || re == nil {
			return err
		}
		matches := len(re.FindAllStringIndex(s, -1))
		return m.make(len(s) + product(matches, len(by)) + product(strings.Count(by, "$"), len(s)))
	}
	out := map[string]guard{}
	for _, n := range []string{"regexMatch", "regexFindAll", "regexFind", "regexSplit"} {
		out[n], out["mustR"+n[1:]] = text, text
	}
	for _, n := range []string{"regexReplaceAll", "regexReplaceAllLiteral"} {
		out[n], out["mustR"+n[1:]] = replace, replace
	}
	return out
}

// regexWork counts the work, and refuses what would take long. The expression is nil where the pattern is none:
// the function says why.
func (m *meter) regexWork(pattern, text string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, nil
	}
	n := len(text) + compileWork
	if product(len(prog.Inst), n) > maxRegexWork || product(prog.NumCap/2, n) > maxRegexText {
		return nil, fmt.Errorf("the pattern and the text are too large together")
	}
	if err := m.use(product(len(prog.Inst), n)); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}
