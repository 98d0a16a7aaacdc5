package convert_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/dnsmasq"
	"rackboot/cmd/internal/convert/drprovision"
	"rackboot/cmd/internal/convert/maas"
	"rackboot/cmd/internal/convert/metal3"
	"rackboot/cmd/internal/convert/metaloperator"
	"rackboot/cmd/internal/convert/netbox"
	"rackboot/cmd/internal/manifest"
)

var update = flag.Bool("update", false, "update the golden files")

type reader func(*convert.Conversion, []convert.File) error

func readers() map[string]reader {
	return map[string]reader{
		"metal3": metal3.Convert, "metal-operator": metaloperator.Convert, "dr-provision": drprovision.Convert,
		"netbox": netbox.Convert, "dnsmasq": dnsmasq.Convert, "maas": maas.Convert,
	}
}

// settings are of a site that gives everything.
func settings(tool string) convert.Settings {
	s := convert.Settings{Rack: "r1", CA: "-----BEGIN CERTIFICATE-----\n", Credentials: "secret:bmcs", Image: "registry.example/site:1"}
	if tool == "netbox" {
		s.Rack = ""
	}
	if tool == "metal-operator" {
		s.Image = ""
	}
	return s
}

// fixture is the input of a tool.
func fixture(t testing.TB, tool string) []convert.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", tool, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no input for %s: %v", tool, err)
	}
	var out []convert.File
	for _, n := range names {
		raw, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, convert.File{Name: filepath.Base(n), Data: raw})
	}
	return out
}

// run converts, and returns the manifests too.
func run(read reader, s convert.Settings, files []convert.File) (convert.Result, string, error) {
	c := convert.New(s)
	if err := read(c, files); err != nil {
		return convert.Result{}, "", err
	}
	out, err := c.Finish()
	if err != nil {
		return out, "", err
	}
	parts, err := convert.Parts(out.Objects)
	return out, string(bytes.Join(parts, []byte("---\n"))), err
}

// What becomes of each field of each input, and the manifests.
func TestGolden(t *testing.T) {
	for tool, read := range readers() {
		out, text, err := run(read, settings(tool), fixture(t, tool))
		if err != nil {
			t.Errorf("%s: %v", tool, err)
			continue
		}
		var got strings.Builder
		for _, f := range out.Report.Findings {
			fmt.Fprintf(&got, "%s\n", strings.TrimRight(fmt.Sprintf("%s %s: %s %s %s", f.Object, f.Field, f.Fate, f.Code, strings.Join(f.To, ", ")), " "))
		}
		for _, n := range out.Report.Needs {
			fmt.Fprintf(&got, "lacks: %s %s %s\n", n.Object, n.Field, n.Code)
		}
		got.WriteString("---\n" + text)
		path := filepath.Join("testdata", tool+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s (go test -update rewrites it):\n%s", tool, d)
		}
	}
}

// The same input gives the same report and manifests, and the report has no value of a secret.
func TestNoSecretIsReported(t *testing.T) {
	for tool, read := range readers() {
		out, text, err := run(read, settings(tool), fixture(t, tool))
		again, textAgain, errAgain := run(read, settings(tool), fixture(t, tool))
		if err != nil || errAgain != nil {
			t.Fatal(err, errAgain)
		}
		if d := cmp.Diff(out.Report, again.Report); d != "" || text != textAgain {
			t.Errorf("%s: two runs differ\n%s", tool, d)
		}
		raw, err := json.Marshal(out.Report)
		if err != nil || bytes.Contains(raw, []byte("canary")) || bytes.Contains(raw, []byte("Y2FuYXJ5")) {
			t.Errorf("%s: a secret is in the report, %v", tool, err)
		}
		if strings.Contains(text, "canary") {
			t.Errorf("%s: a secret is in a manifest as it is", tool)
		}
		secret := strings.Contains(strings.Join(out.Report.Written, " "), "secret/")
		if wants := tool != "netbox" && tool != "dnsmasq"; secret != wants {
			t.Errorf("%s: Secrets: %v", tool, secret)
		}
	}
}

// covers reports whether a finding speaks of a field, by itself or by what the field is in.
func covers(f convert.Finding, field string) bool {
	return f.Field == "" || f.Field == field || strings.HasPrefix(field, f.Field+".") || strings.HasPrefix(field, f.Field+"[")
}

const injected = "xInjected"

// spots are all mappings of a tree, the root among them.
func spots(v any) []map[string]any {
	var out []map[string]any
	switch v := v.(type) {
	case map[string]any:
		out = append(out, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, spots(v[k])...)
		}
	case []any:
		for _, e := range v {
			out = append(out, spots(e)...)
		}
	}
	return out
}

// Nothing is dropped silently: a field that nobody has heard of, wherever it stands, is reported without an equal
// or as refused, by itself or with what it is in; or else it is in the manifests.
func TestAnyUnknownFieldIsReported(t *testing.T) {
	for _, tool := range []string{"metal3", "metal-operator", "dr-provision", "maas"} {
		files := fixture(t, tool)
		rapid.Check(t, func(t *rapid.T) {
			i := rapid.IntRange(0, len(files)-1).Draw(t, "file")
			docs, err := convert.Read(files[i])
			if err != nil {
				t.Fatal(err)
			}
			all := spots(docs)
			for _, d := range docs {
				all = append(all, spots(d)...)
			}
			at := all[rapid.IntRange(0, len(all)-1).Draw(t, "place")]
			value := rapid.SampledFrom([]any{"marker", true, json.Number("7"), map[string]any{"deep": "marker"}, []any{"marker"}}).Draw(t, "value")
			if keys := slices.Sorted(maps.Keys(at)); len(keys) > 0 && rapid.Bool().Draw(t, "in place of a field") {
				// What was a scalar may be a mapping in another version.
				key := rapid.SampledFrom(keys).Draw(t, "key")
				if slices.Contains([]string{"kind", "apiVersion", "name", "items", "sections", "hostname", "system_id", "Name", "metadata", "HardwareAddrs", "power_address"}, key) {
					return // by which the test finds the object again
				}
				at[key] = map[string]any{injected: value}
			} else {
				at[injected] = value
			}
			var text bytes.Buffer
			for _, d := range docs {
				if err := json.NewEncoder(&text).Encode(d); err != nil {
					t.Fatal(err)
				}
			}
			changed := slices.Clone(files)
			changed[i] = convert.File{Name: files[i].Name, Data: text.Bytes()}
			out, manifests, err := run(readers()[tool], settings(tool), changed)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(manifests, injected) {
				return
			}
			for _, f := range out.Report.Findings {
				if f.File == files[i].Name && strings.Contains(f.Object+" "+f.Field, injected) && (f.Fate == convert.NoEqual || f.Fate == convert.Refused) {
					return
				}
			}
			// It is in something that has no equal as a whole, or was refused: then taking that away as a whole is all that
			// was said of it.
			if !inWhole(out.Report, files[i].Name, docs) {
				t.Fatalf("%s: a field is not reported, and in no manifest: %s", tool, text.String())
			}
		})
	}
}

// inWhole reports whether the injected field lies below a field that has no equal as a whole.
func inWhole(r convert.Report, file string, docs []any) bool {
	for i, d := range docs {
		for object, root := range objects(fmt.Sprintf("document %d", i+1), d) {
			for _, path := range pathsOf(root, "") {
				for _, f := range r.Findings {
					if f.File == file && f.Object == object && covers(f, path) && (f.Fate == convert.NoEqual || f.Fate == convert.Refused) {
						return true
					}
				}
			}
		}
	}
	return false
}

// objects are the objects of a document by what reports call them.
func objects(place string, v any) map[string]any {
	out := map[string]any{}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			maps.Copy(out, objects(place, e))
		}
	case map[string]any:
		rest := maps.Clone(v)
		meta, _ := v["metadata"].(map[string]any)
		name := fmt.Sprint(v["kind"], "/", meta["name"])
		switch {
		case v["items"] != nil:
			out = objects(place, v["items"])
			delete(rest, "items")
			name = place
		case v["sections"] != nil:
			sections, _ := v["sections"].(map[string]any)
			for s, all := range sections {
				of, _ := all.(map[string]any)
				for n, o := range of {
					out[s+"/"+n] = o
				}
			}
			delete(rest, "sections")
			name = "bundle"
		case v["hostname"] != nil:
			name = fmt.Sprint("machine/", v["hostname"])
		case v["power_address"] != nil:
			name = fmt.Sprint("power-parameters/", v["system_id"])
		case v["HardwareAddrs"] != nil:
			name = fmt.Sprint("machines/", v["Name"])
		}
		out[name] = rest
	}
	return out
}

// pathsOf are the paths of the injected field in a tree, as reports write them.
func pathsOf(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			here := k
			if strings.ContainsAny(k, `.[]"' `) {
				here = fmt.Sprintf("[%q]", k)
			} else if at != "" {
				here = "." + k
			}
			if k == injected {
				out = append(out, at+here)
			}
			out = append(out, pathsOf(e, at+here)...)
		}
	case []any:
		for i, e := range v {
			out = append(out, pathsOf(e, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return out
}

// The same for lines: a column or word that nobody has heard of.
func TestAnyUnknownColumnIsReported(t *testing.T) {
	for tool, change := range map[string]func(string) string{
		"netbox": func(line string) string { return line + "," + injected },
		"dnsmasq": func(line string) string {
			if strings.HasPrefix(line, "dhcp-host=") {
				return strings.Replace(line, "=", "=x:"+injected+",", 1)
			}
			return line
		},
	} {
		for i, f := range fixture(t, tool) {
			if f.Name == "ethers" {
				continue
			}
			lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			for j := range lines {
				lines[j] = change(lines[j])
			}
			files := fixture(t, tool)
			files[i].Data = []byte(strings.Join(lines, "\n"))
			out, _, err := run(readers()[tool], settings(tool), files)
			if err != nil {
				t.Fatal(err)
			}
			unknown := 0
			for _, f := range out.Report.Findings {
				if f.Code == convert.UnknownField {
					unknown++
				}
			}
			if unknown < 2 {
				t.Errorf("%s %s: %d unknown fields", tool, f.Name, unknown)
			}
		}
	}
}

// The tables of the guide are true: of each field, of its input or one like it, each place and code in the row is one
// that the converter says.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	index, words := regexp.MustCompile(`\[[0-9]+\]`), regexp.MustCompile("`([^`]+)`")
	for tool, title := range map[string]string{
		"metal3": "metal3", "metal-operator": "metal-operator", "dr-provision": "dr-provision", "netbox": "NetBox", "dnsmasq": "dnsmasq and /etc/ethers", "maas": "MAAS",
	} {
		_, section, _ := strings.Cut(string(page), "\n## "+title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		said := map[string][]string{} // by field
		for _, image := range []string{"", "registry.example/site:1"} {
			s := settings(tool)
			s.Image = image
			out, _, err := run(readers()[tool], s, fixture(t, tool))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Report.Findings {
				field := index.ReplaceAllString(f.Field, "[]")
				said[field] = append(said[field], string(f.Code))
				for _, to := range f.To {
					_, at, _ := strings.Cut(to, " ")
					said[field] = append(said[field], at)
				}
			}
		}
		rows := 0
		for line := range strings.Lines(section) {
			cells := strings.Split(line, " | ")
			if len(cells) != 2 || !strings.HasPrefix(line, "| `") {
				continue
			}
			rows++
			field := strings.Trim(cells[0], "| `")
			for _, w := range words.FindAllStringSubmatch(cells[1], -1) {
				if word := w[1]; !strings.HasPrefix(word, "--") && !strings.HasPrefix(word, "rackctl ") && word != "set:" && !slices.Contains(said[field], word) {
					t.Errorf("%s: %s goes to %s: the converter says %q", tool, field, word, said[field])
				}
			}
		}
		if rows < 2 {
			t.Errorf("%s: %d rows", tool, rows)
		}
	}
}

// checkReport holds what is true of the report and manifests of any input at all.
func checkReport(t *testing.T, out convert.Result, text string) {
	t.Helper()
	for _, f := range out.Report.Findings {
		if !slices.Contains(convert.Fates(), f.Fate) {
			t.Errorf("%+v has no fate", f)
		}
		if _, known := f.Code.Meaning(); f.Code != "" && !known || f.Code == "" && f.Fate != convert.Taken {
			t.Errorf("%+v has no code that there is", f)
		}
	}
	set, err := manifest.Parse([]manifest.Source{{Name: "out.yaml", Data: []byte(text)}})
	if err != nil && len(out.Report.Needs) == 0 && len(out.Objects) > 0 {
		t.Errorf("apply refuses what needs nothing: %v\n%s", err, text)
	}
	if err == nil && len(set.Objects()) != len(out.Objects) {
		t.Errorf("%d of %d resources are in the manifests", len(set.Objects()), len(out.Objects))
	}
}

func fuzz(f *testing.F, tool string) {
	for _, file := range fixture(f, tool) {
		f.Add(file.Data)
	}
	read := readers()[tool]
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, text, err := run(read, settings(tool), []convert.File{{Name: "in", Data: raw}})
		if err == nil {
			checkReport(t, out, text)
		}
	})
}

func FuzzMetal3(f *testing.F)        { fuzz(f, "metal3") }
func FuzzMetalOperator(f *testing.F) { fuzz(f, "metal-operator") }
func FuzzDRProvision(f *testing.F)   { fuzz(f, "dr-provision") }
func FuzzNetBox(f *testing.F)        { fuzz(f, "netbox") }
func FuzzDnsmasq(f *testing.F)       { fuzz(f, "dnsmasq") }
func FuzzMAAS(f *testing.F)          { fuzz(f, "maas") }
