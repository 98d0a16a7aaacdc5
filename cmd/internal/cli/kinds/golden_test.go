package kinds

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// update rewrites the golden tables.
var update = flag.Bool("update", false, "update testdata/tables")

// filler sets every field of a resource to something, the same for the same seed.
type filler struct {
	*rand.Rand
	now time.Time
}

// words are texts that columns look at.
func (f filler) words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[resource.Phase]():
		return []string{"Initial", "Available", "Reserved", "Discovery", "Maintenance", "Releasing", "Error", "of a newer hub"}
	case reflect.TypeFor[resource.HoldState]():
		return []string{"Accepted", "Enforced", "Stopping", "Forcing", "Confirmed", "Fenced", "Violated", "Unreachable", "Stale", "Releasing"}
	case reflect.TypeFor[resource.ConditionCode]():
		return []string{string(resource.CondHeld), string(resource.CondBMCUnreachable), string(resource.CondStale), string(resource.CondArtefactsPending), string(resource.CondMethodMismatch), "OfANewerAgent"}
	case reflect.TypeFor[resource.HoldWord]():
		return []string{string(resource.HoldReleased), string(resource.HoldEnforced)}
	case reflect.TypeFor[resource.WaitCode]():
		return []string{string(resource.WaitDHCP), string(resource.WaitOff), string(resource.WaitReport), "what a newer agent waits for"}
	}
	return []string{"", "n1", "a-longer-word", "two words", "évé\x1b[31m", "12"}
}

// fill fills a value; deep bounds how far.
func (f filler) fill(v reflect.Value, deep int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(f.now.Add(-time.Duration(f.IntN(400_000)) * time.Second)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if deep < 9 && f.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), deep+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), deep+1)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || deep > 8 {
			return
		}
		for range f.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			f.fill(e, deep+1)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(3) {
			key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, deep+1)
			f.fill(e, deep+1)
			v.SetMapIndex(key, e)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(map[string]any{"type": "string"}))
		}
	case reflect.String:
		words := f.words(v.Type())
		v.SetString(words[f.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(f.IntN(5)) * max(1, int64(time.Second)*int64(f.IntN(2))))
	case reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		v.SetUint(uint64(f.IntN(200)))
	}
}

// Every column of every kind is drawn as it always was: in wide tables and narrow ones, in colours, and what counts
// as a change for a watch.
func TestTablesStayAsTheyAre(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, kind := range resource.Kinds() {
		f := filler{rand.New(rand.NewPCG(1, 2)), now}
		objs := []resource.Object{resource.NewObject(kind)}
		for i := range 4 {
			o := resource.NewObject(kind)
			f.fill(reflect.ValueOf(o).Elem(), 0)
			o.Head().Metadata.Name = fmt.Sprint("x", i)
			objs = append(objs, o)
		}
		var b bytes.Buffer
		rack := func(o resource.Object) string { return "r" + o.Head().Metadata.Name }
		for _, form := range []string{printer.FormTable, printer.FormWide} {
			p := &printer.Printer{Out: &b, Err: &b, Form: form}
			if err := p.ShowAll(false, TableAt(kind, objs, now, rack)); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range objs {
			v, facts, text := Describe(kind, o, now, nil)
			fmt.Fprintf(&b, "\n%v\n%q\n%v\n", v.Columns, v.Items[0].Keys, v.Items[0].Tones)
			for _, f := range facts {
				fmt.Fprintf(&b, "%s: %q\n", f[0], printer.Dash(f[1]))
			}
			b.WriteString(text)
		}
		path := filepath.Join("testdata", "tables", strings.ToLower(string(kind))+".txt")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s: %v\n%s", kind, err, firstDifference(string(want), b.String()))
		}
	}
}

// firstDifference is the first line that is another one.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\nwant %s\n got %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}
