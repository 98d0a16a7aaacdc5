package bootenv

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"

	"rackboot/protocol/resource"
)

// kept are the functions of Sprig that templates have. One that a new release of Sprig
// adds is in neither list, until somebody has read what it does.
func kept() []string {
	return strings.Fields(`
abbrev abbrevboth add add1 add1f addf adler32sum all any append atoi b32dec b32enc b64dec b64enc base biggest buildCustomCert
camelcase cat ceil chunk clean coalesce compact concat contains decryptAES deepCopy deepEqual default dict dig dir div divf duration
empty ext fail first float64 floor fromJson get has hasKey hasPrefix hasSuffix hello indent initial initials int int64 isAbs
join kebabcase keys kindIs kindOf last list lower max maxf merge mergeOverwrite min minf mod mul mulf
mustAppend mustChunk mustCompact mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustMerge mustMergeOverwrite
mustPrepend mustPush mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit
mustRest mustReverse mustSlice mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout
nindent nospace omit osBase osClean osDir osExt osIsAbs pick pluck plural prepend push quote
regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace rest reverse round
semver semverCompare seq set sha1sum sha256sum sha512sum slice snakecase sortAlpha split splitList splitn squote sub subf substr
swapcase ternary title toDecimal toJson toPrettyJson toRawJson toString toStrings trim trimAll trimPrefix trimSuffix trimall trunc tuple
typeIs typeIsLike typeOf uniq unset until untilStep untitle upper urlJoin urlParse values without wrap wrapWith`)
}

// Issue: functions that read environment or files are removed, and so are those of the
// clock and of chance.
func TestFunctionsOfSprig(t *testing.T) {
	have, out, lib := kept(), leftOut(), newLibrary()
	for _, name := range sortedKeys(sprig.GenericFuncMap()) {
		_, left := out[name]
		switch k := slices.Contains(have, name); {
		case k == left:
			t.Errorf("%s: kept %v, left out %v", name, k, left)
		case left && !strings.Contains(lib.problem(name), "is left out: it "+out[name]):
			t.Errorf("%s: %q", name, lib.problem(name))
		case k && lib.problem(name) != "":
			t.Errorf("%s: %s", name, lib.problem(name))
		}
	}
	for _, name := range have {
		if _, ok := sprig.GenericFuncMap()[name]; !ok {
			t.Errorf("%s is not Sprig's", name)
		}
	}
	for name := range out {
		if _, ok := sprig.GenericFuncMap()[name]; !ok && name != "call" {
			t.Errorf("%s is not Sprig's", name)
		}
	}
	for name := range guards() {
		if _, ok := functions()[name]; !ok {
			t.Errorf("%s is guarded and not there", name)
		}
	}
}

// Sprig's documents, a function of each page.
func TestFunctions(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{{ "a b" | upper | quote }}`, `"A B"`},
		{`{{ keys (dict "b" 1 "a" 2) (dict "c" 3) }}`, "[a b c]"},
		{`{{ values (dict "b" 1 "a" 2) }}`, "[2 1]"},
		{`{{ range until 3 }}{{.}}{{ end }}`, "012"},
		{`{{ range untilStep 3 0 -1 }}{{.}}{{ end }}`, "321"},
		{`{{ seq 3 }}-{{ seq 2 4 }}-{{ seq 0 2 6 }}-{{ seq 3 1 }}`, "1 2 3-2 3 4-0 2 4 6-3 2 1"},
		{`{{ "x" | repeat 3 }}`, "xxx"},
		{"{{ \"a\\nb\" | indent 2 }}|{{ \"a\" | nindent 2 }}", "  a\n  b|\n  a"},
		{`{{ regexReplaceAll "a(b+)" "abb ab" "${1}x" }}`, "bbx bx"},
		{`{{ regexFindAll "[0-9]" "a1b2" -1 }}`, "[1 2]"},
		{`{{ printf "%05d|%-4s|%.2f|%%|%s" 42 "a" 1.5 "b" }}`, "00042|a   |1.50|%|b"},
		{`{{ print "a" "b" 1 2 }}|{{ html "<" }}|{{ urlquery "a b" }}`, "ab1 2|&lt;|a+b"},
		{`{{ dict "a" (list 1 2) | toJson }}`, `{"a":[1,2]}`},
		{`{{ $d := dict }}{{ $_ := set $d "a" 1 }}{{ get $d "a" }}`, "1"},
		{`{{ merge (dict "a" 1) (dict "a" 2 "b" 3) | toJson }}`, `{"a":1,"b":3}`},
		{`{{ join "," (list "a" "b") }} {{ splitList "," "a,b" | last }} {{ (split "-" "a-b")._1 }}`, "a,b b b"},
		{`{{ default "x" "" }} {{ ternary 1 2 true }} {{ coalesce "" "y" }}`, "x 1 y"},
		{`{{ semverCompare ">=1.2" "1.3.0" }} {{ sha256sum "a" | trunc 8 }} {{ b64enc "a" }}`, "true ca978112 YQ=="},
		{`{{ add 1 2 3 }} {{ div 7 2 }} {{ max 1 9 3 }}`, "6 3 9"},
		{`{{ uniq (list 1 1 2) }} {{ chunk 2 (list 1 2 3) }}`, "[1 2] [[1 2] [3]]"},
		{`{{ if eq "a" "a" }}1{{ end }}{{ if ne .Machine.Name "x" }}2{{ end }}{{ if lt 1 (len "ab") }}3{{ end }}{{ "a" | eq "a" }}{{ eq 1 2 1 }}{{ eq (get (dict "a" 1) "a") 1 }}`, "123truetruetrue"},
		{`{{ with $x := 1 }}{{ $x }}{{ end }}{{ if and true (not false) }}y{{ else }}n{{ end }}`, "1y"},
		{`{{ range $i, $e := list "a" "b" }}{{ if eq $i 1 }}{{ break }}{{ end }}{{ $e }}{{ end }}`, "a"},
		{`{{ define "d" }}[{{ . }}]{{ end }}{{ template "d" 1 }}{{ block "e" 2 }}({{ . }}){{ end }}`, "[1](2)"},
		{`{{ printf "%v %+v %d %s" . . . . }}`, strings.TrimSpace(strings.Repeat("(data of the boot environment) ", 4))},
		{`{{ printf "%v" (dict "root" .) }}`, "map[root:(data of the boot environment)]"},
		// text/template takes the pointer away before it prints.
		{`{{ . }}`, "(data of the boot environment)"},
		{`{{ .Machine }} {{ .Env }} {{ .Env.OS }}`, "node1.example debian-12-install debian-12"},
	} {
		if got, err := output(t, row.text); got != row.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", row.text, got, err, row.want)
		}
	}
}

// What is wrong in a template is said with its place.
func TestTemplateErrors(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"a\n  {{ now }}", `spec.templates[0].contents:2:6: function "now" is left out: it reads the clock`},
		{`{{ env "HOME" }}`, `spec.templates[0].contents:1:4: function "env" is left out: it reads the host`},
		{`{{ uuidv4 }}`, `function "uuidv4" is left out: it gives something else each time`},
		{`{{ nope }}`, `spec.templates[0].contents:1:4: function "nope" is not there`},
		{`{{ enter }}`, `function "enter" is not there`},
		{`{{ call .x }}`, `function "call" is left out`},
		{"a\n{{ if }}", `spec.templates[0].contents:2:1: missing value for if`},
		{"a\n{{ if true }}", `spec.templates[0].contents:2:1: unexpected EOF`},
		{`{{ template "nope.tmpl" . }}`, `spec.templates[0].contents: template "nope.tmpl" is not there`},
		{`{{ .Nope }}`, `spec.templates[0].contents:1:4: .Nope: can't evaluate field Nope in the dot`},
		{`{{ (dict "a" 1).b }}`, `map has no entry for key "b"`},
		{"x\n{{ .Param \"nope\" }}", `spec.templates[0].contents:2:4: .Param: param "nope" has no value`},
		{`{{ get (dict "a" nil) "a" }}`, `there is no value to print`},
		{`{{ fail "choose a disk" }}`, `error calling fail: choose a disk`},
		{`{{ first (list) | upper }}`, `spec.templates[0].contents:1:`},
		{`{{ deepCopy (dict "a" .) }}`, `only plain values are copied`},
		{`{{ merge (dict "a" .) (dict "a" .) }}`, `only plain values are copied and merged`},
		{strings.Repeat("x", resource.MaxTemplate+1), `spec.templates[0].contents: has more than 128 KiB`},
	} {
		if _, err := output(t, row.text); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.100s: %v, want %s", row.text, err, row.want)
		}
	}
}
