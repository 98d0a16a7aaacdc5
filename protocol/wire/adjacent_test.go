package wire

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// v1Fields are the fields of version 1, as "Hello.agent", with their type in CBOR.
func v1Fields() map[string]string {
	all := map[string]string{}
	for _, t := range v1Kinds() {
		fieldsOf(t, func(owner reflect.Type, f field) {
			all[strings.TrimPrefix(owner.Name(), "v1")+"."+f.name] = strings.ReplaceAll(f.cbor, "v1", "")
		})
	}
	return all
}

// Changes are additive: what version 1 knows is still there, means the same type,
// and is still sent where version 1 needs it; what it does not know may be absent.
func TestTodayAddsFieldsOnly(t *testing.T) {
	old, now := v1Fields(), map[string]field{}
	for _, k := range Kinds() {
		fieldsOf(reflect.TypeOf(k.New()), func(owner reflect.Type, f field) { now[owner.Name()+"."+f.name] = f })
	}
	for name, cbor := range old {
		if now[name].cbor != cbor {
			t.Errorf("%s was %s and is %q", name, cbor, now[name].cbor)
		}
	}
	added := map[string]bool{} // structs that version 1 does not have
	for name, f := range now {
		owner, _, _ := strings.Cut(name, ".")
		added[owner] = !slices.ContainsFunc(keys(old), func(o string) bool { return strings.HasPrefix(o, owner+".") })
		if _, known := old[name]; !known && !f.may && !added[owner] {
			t.Errorf("%s is new and always sent: its absence cannot be told from its zero value", name)
		}
	}
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// What yesterday's peer sends is read today, and nothing is made up: fields that
// version 1 does not have are zero. What zero means is in docs/PROTOCOL.md.
func TestTodayReadsYesterday(t *testing.T) {
	old := v1Fields()
	v := NewVerifier(NewSigner(testKey(0)).Public())
	for _, g := range vectors1() {
		t.Run(g.file, func(t *testing.T) {
			msg := g.empty(t)
			if err := Open(v, g.topic, readVector(t, "v1", g.file), msg); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			fieldsSeen(seen, reflect.ValueOf(msg))
			if len(seen) == 0 {
				t.Error("nothing was read")
			}
			for name := range seen {
				if _, known := old[name]; !known {
					t.Errorf("%s is not of version 1", name)
				}
			}
		})
	}
}

// What today's peer sends is read by yesterday's, which sees its own fields with
// the same values. Today's reading, through JSON, says what the values are.
func TestYesterdayReadsToday(t *testing.T) {
	for _, g := range vectors() {
		t.Run(g.file, func(t *testing.T) {
			v := NewVerifier(NewSigner(vectorKeys()[g.key]).Public())
			data := readVector(t, "v2", g.file)
			kind, _ := KindOf(g.topic)
			yesterday := v1Kinds()[kind.Name]
			switch kind.Name {
			case "Ask", "Answer":
				return // version 1 has neither, and is not asked: it cannot CapAsk
			case "EndOfTerm", "KeyStatement", "Renewal", "Approval":
				return // version 1 has none of them; they travel inside of what it passes over, or by HTTPS
			}
			if yesterday == nil {
				t.Fatalf("version 1 has no %s", kind.Name)
			}
			got := reflect.New(yesterday).Interface()
			if err := Open(v, g.topic, data, got); err != nil {
				t.Fatal(err)
			}
			now := kind.New()
			if err := Open(v, g.topic, data, now); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(now)
			if err != nil {
				t.Fatal(err)
			}
			want := reflect.New(yesterday).Interface()
			if err := json.Unmarshal(text, want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, equal()); diff != "" {
				t.Error(diff)
			}
			seen := map[string]bool{}
			fieldsSeen(seen, reflect.ValueOf(got))
			if len(seen) == 0 {
				t.Error("nothing was read")
			}
		})
	}
}
