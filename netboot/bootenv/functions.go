package bootenv

import (
	"fmt"
	"reflect"
	"slices"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// Why functions of Sprig are left out.
const (
	outHost    = "reads the host that renders"
	outClock   = "reads the clock or the time zone of the host that renders"
	outChance  = "gives something else each time"
	outCostly  = "takes 32 MiB and a tenth of a second for each call"
	outNothing = "calls a function, and a template has none to call"
)

// leftOut are the functions that templates do not have, with the reason. A description
// gives the same files on every host, now and later.
func leftOut() map[string]string {
	out := map[string]string{"derivePassword": outCostly, "call": outNothing}
	for why, names := range map[string][]string{
		outHost: {"env", "expandenv", "getHostByName"},
		outClock: {
			"now", "ago", "date", "date_in_zone", "dateInZone", "date_modify", "dateModify", "must_date_modify", "mustDateModify",
			"htmlDate", "htmlDateInZone", "toDate", "mustToDate", "unixEpoch", "durationRound",
		},
		outChance: {
			"randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
			"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
			"encryptAES", "bcrypt", "htpasswd",
		},
	} {
		for _, n := range names {
			out[n] = why
		}
	}
	return out
}

// operators are functions of text/template that neither make a value nor walk one.
func operators() []string {
	return append([]string{"and", "or", "not", "len", "index", "slice"}, comparisons...)
}

// comparisons are those that look at the whole of what they are given.
var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge"}

// functions are what templates have beside the operators: Sprig's but those that are left
// out, those of text/template that make values, and ours in place of Sprig's where those
// depend on the order of a map.
func functions() map[string]any {
	out := sprig.GenericFuncMap()
	for name := range leftOut() {
		delete(out, name)
	}
	out["print"], out["printf"], out["println"] = fmt.Sprint, fmt.Sprintf, fmt.Sprintln
	out["html"], out["js"], out["urlquery"] = template.HTMLEscaper, template.JSEscaper, template.URLQueryEscaper
	out["keys"] = func(maps ...map[string]any) []string {
		keys := []string{}
		for _, m := range maps {
			keys = append(keys, sortedKeys(m)...)
		}
		slices.Sort(keys)
		return keys
	}
	out["values"] = func(m map[string]any) []any {
		values := []any{}
		for _, k := range sortedKeys(m) {
			values = append(values, m[k])
		}
		return values
	}
	return out
}

// library is what templates can call. It does not change.
type library struct {
	functions map[string]any
	guards    map[string]guard
	out       map[string]string
}

func newLibrary() *library { return &library{functions(), guards(), leftOut()} }

// problem says why a template cannot call a function; empty is that it can.
func (l *library) problem(name string) string {
	if why, ok := l.out[name]; ok {
		return fmt.Sprintf("function %q is left out: it %s", name, why)
	}
	if _, ok := l.functions[name]; ok || slices.Contains(operators(), name) {
		return ""
	}
	return fmt.Sprintf("function %q is not there", name)
}

// bind gives the functions that some templates name, each counted by the meter.
func (m *meter) bind(l *library, names []string) template.FuncMap {
	out := template.FuncMap{funcEnter: m.enter, funcLeave: m.leave, funcOutput: m.output, funcWeigh: m.weigh}
	for _, n := range names {
		if f, ok := l.functions[n]; ok {
			out[n] = m.counted(n, reflect.ValueOf(f), l.guards[n]).Interface()
		}
	}
	return out
}

// output looks at what is about to be printed. What has no value is never meant.
func (m *meter) output(v any) (any, error) {
	if v == nil {
		return nil, fmt.Errorf("there is no value to print")
	}
	n, err := m.size(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return v, m.use(n)
}

// weigh counts what is compared.
func (m *meter) weigh(v any) (any, error) {
	n, err := m.size(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return v, m.use(n)
}

// counted is a function with the same arguments that counts them, asks the guard how much
// it would return, and counts what it did.
func (m *meter) counted(name string, f reflect.Value, g guard) reflect.Value {
	t := f.Type()
	errType := reflect.TypeFor[error]()
	var in []reflect.Type
	for i := range t.Ins() {
		in = append(in, i)
	}
	wrapped := reflect.FuncOf(in, []reflect.Type{t.Out(0), errType}, t.IsVariadic())
	return reflect.MakeFunc(wrapped, func(args []reflect.Value) []reflect.Value {
		fail := func(err error) []reflect.Value {
			return []reflect.Value{reflect.Zero(t.Out(0)), reflect.ValueOf(&err).Elem()}
		}
		read := 0
		for _, a := range args {
			n, err := m.size(a)
			if err != nil {
				return fail(err)
			}
			read += n
		}
		if err := m.use(read); err != nil {
			return fail(err)
		}
		if g != nil {
			if err := g(m, args); err != nil {
				return fail(fmt.Errorf("%s: %w", name, err))
			}
		}
		var out []reflect.Value
		if t.IsVariadic() {
			out = f.CallSlice(args)
		} else {
			out = f.Call(args)
		}
		n, err := m.size(out[0])
		if err == nil {
			err = m.make(n)
		}
		if err == nil && len(out) > 1 && !out[1].IsNil() {
			err = out[1].Interface().(error) // the type of its second result
		}
		if err != nil {
			return fail(err)
		}
		return []reflect.Value{out[0], reflect.Zero(errType)}
	})
}
