package decide

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// ruleWords are the values of the enums that facts have, by type.
func ruleWords() map[reflect.Type][]any {
	words := map[reflect.Type][]any{reflect.TypeFor[bool](): {false, true}}
	enum(words, holdsNone, holdsPlain, holdsForced)
	enum(words, askedNothing, askedReboot, askedOff)
	enum(words, "", resource.WantOn, resource.WantOff)
	enum(words, isOff, isOn, isOther)
	enum(words, leftNothing, leftGone, leftDue)
	enum(words, attemptNobodys, attemptOurs, attemptOthers)
	enum(words, triggerNone, triggerOff, triggerOn)
	enum(words, discoveryNone, discoveryOver, discoveryStays)
	enum(words, restartNone, restartLater, restartNow)
	enum(words, methodFits, methodCannot, methodAbsent, methodOff, methodNoURI, methodUnknown)
	enum(words, chainFits, chainNone, chainByURI)
	enum(words, needsNothing, needsEvidence, needsSecrets)
	enum(words, grantFit, grantMissing, grantUnread, grantOther)
	enum(words, haltingNone, haltingSoft, haltingForced)
	enum(words, append(resource.AttemptStates(), "")...)
	enum(words, append(resource.FirmwareStages(), "")...)
	enum(words, setupNone, setupBooted, setupFailed)
	return words
}

func enum[T any](words map[reflect.Type][]any, values ...T) {
	for _, v := range values {
		words[reflect.TypeFor[T]()] = append(words[reflect.TypeFor[T]()], v)
	}
}

// product calls f with every combination of the facts.
func product[F any](t testing.TB, words map[reflect.Type][]any, f func(F)) {
	t.Helper()
	var facts F
	v := reflect.NewAt(reflect.TypeFor[F](), reflect.ValueOf(&facts).UnsafePointer()).Elem()
	var walk func(i int)
	walk = func(i int) {
		if i == v.NumField() {
			f(facts)
			return
		}
		field := v.Field(i)
		values := words[field.Type()]
		if len(values) == 0 {
			t.Fatalf("%s: no values of %s", v.Type(), field.Type())
		}
		to := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
		for _, value := range values {
			to.Set(reflect.ValueOf(value))
			walk(i + 1)
		}
	}
	walk(0)
}

// ruleProblems are what is wrong with a list of rules over the full product of its facts: facts
// that no rule fits, rules that decide nothing, names that are not unique, and neighbours
// whose order means nothing but that are not declared as such, or are and means something.
func ruleProblems[F any, V comparable](t testing.TB, words map[reflect.Type][]any, rules []rule[F, V], independent ...string) (problems []string) {
	t.Helper()
	decides, order, names := make([]bool, len(rules)), make([]bool, len(rules)), map[string]bool{}
	unfit := false
	product(t, words, func(f F) {
		first := -1
		for i, r := range rules {
			if r.When(f) {
				first = i
				break
			}
		}
		if first < 0 {
			unfit = true
			return
		}
		decides[first] = true
		if next := first + 1; next < len(rules) && rules[next].When(f) && rules[next].Then != rules[first].Then {
			order[first] = true
		}
	})
	if unfit {
		problems = append(problems, "no rule fits some facts")
	}
	for i, r := range rules {
		if r.Name == "" || names[r.Name] {
			problems = append(problems, fmt.Sprintf("rule %d: the name %q is empty or there twice", i+1, r.Name))
		}
		names[r.Name] = true
		if !decides[i] {
			problems = append(problems, fmt.Sprintf("%q decides nothing", r.Name))
		}
		if i+1 == len(rules) {
			continue
		}
		declared := false
		for _, name := range independent {
			declared = declared || name == r.Name
		}
		switch {
		case !order[i] && !declared:
			problems = append(problems, fmt.Sprintf("%q may change places with %q", r.Name, rules[i+1].Name))
		case order[i] && declared:
			problems = append(problems, fmt.Sprintf("%q may not change places with %q, and is declared independent", r.Name, rules[i+1].Name))
		}
	}
	for _, name := range independent {
		if !names[name] {
			problems = append(problems, fmt.Sprintf("%q is declared independent, and is no rule", name))
		}
	}
	return problems
}

// holdRules reports what is wrong with a list of rules. independent names the rules that may
// change places with the one after.
func holdRules[F any, V comparable](t *testing.T, rules []rule[F, V], independent ...string) {
	t.Helper()
	for _, p := range ruleProblems(t, ruleWords(), rules, independent...) {
		t.Error(p)
	}
}

// The order of rules is part of the decision: neighbours that change places change a verdict,
// or are declared here as independent of one another.
func TestRules(t *testing.T) {
	for name, hold := range map[string]func(*testing.T){
		"goal": func(t *testing.T) {
			holdRules(t, goalRules, "the claim ends", "the claim wants the server Off")
		},
		"course": func(t *testing.T) { holdRules(t, courseRules, "another owner's attempt is over") },
		"tidy":   func(t *testing.T) { holdRules(t, tidyRules, "its override is armed") },
		"hand over": func(t *testing.T) {
			holdRules(t, handOverRules, "an override is armed", "the disk was armed for restarts", "an override is cleared at Off")
		},
		"ready": func(t *testing.T) {
			holdRules(t, readyRules, "a stop is under way", "it was discovered", "it shows another identity")
		},
		"power": func(t *testing.T) { holdRules(t, powerRules, "a resume restarts it later", "it is On") },
		"begin": func(t *testing.T) { holdRules(t, beginRules) },
		"first": func(t *testing.T) {
			holdRules(t, firstRules, "the BMC inserts no images", "the BMC has no such target", "firmware has it switched off", "the BMC takes no URL", "no chain fits the machine", "secrets have no way", "the grant cannot be read", "there is no grant")
		},
		"grant": func(t *testing.T) { holdRules(t, grantRules) },
		"firmware": func(t *testing.T) {
			holdRules(t, firmwareRules, "its power is not settled", "it is over", "POST may be over", "it is not begun", "the server went Off again", "it is to be read")
		},
		"firmware read": func(t *testing.T) { holdRules(t, readRules, "all is as wanted") },
		"awaits": func(t *testing.T) {
			holdRules(t, awaitRules, "it was asked to shut down", "its override is not stored", "firmware starts", "firmware has not fetched all", "its image has not reported")
		},
	} {
		t.Run(name, hold)
	}
}

// heavy is what rules are tried with.
type heavy struct{ heavy, asked bool }

func TestRulesCanFail(t *testing.T) {
	is := func(h heavy) bool { return h.heavy }
	asked := func(h heavy) bool { return h.asked }
	rest := func(heavy) bool { return true }
	for name, c := range map[string]struct {
		rules       []rule[heavy, string]
		independent []string
		want        string
	}{
		"good":                   {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "yes"}, {"rest", rest, "no"}}, nil, ""},
		"no last row":            {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "yes"}}, nil, "no rule fits some facts"},
		"a rule after its own":   {[]rule[heavy, string]{{"heavy", is, "no"}, {"again", is, "yes"}, {"rest", rest, "no"}}, nil, `"again" decides nothing`},
		"a name twice":           {[]rule[heavy, string]{{"heavy", is, "no"}, {"heavy", asked, "yes"}, {"rest", rest, "no"}}, nil, `"heavy" is empty or there twice`},
		"order without meaning":  {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "no"}, {"rest", rest, "yes"}}, nil, `"heavy" may change places with "asked"`},
		"and declared":           {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "no"}, {"rest", rest, "yes"}}, []string{"heavy"}, ""},
		"wrongly declared":       {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "yes"}, {"rest", rest, "no"}}, []string{"heavy"}, `"heavy" may not change places`},
		"declared and not there": {[]rule[heavy, string]{{"heavy", is, "no"}, {"asked", asked, "yes"}, {"rest", rest, "no"}}, []string{"light"}, `"light" is declared independent, and is no rule`},
	} {
		got := strings.Join(ruleProblems(t, ruleWords(), c.rules, c.independent...), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
