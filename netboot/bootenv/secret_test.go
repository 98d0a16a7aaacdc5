package bootenv

import (
	"context"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// P12: the value of a secret is in no error, whoever makes the error.
func TestSecretsAreInNoError(t *testing.T) {
	const secret, short = "hunter2hunter2", "s3"
	for _, row := range []struct {
		name, text, schema string
		value              any
		want               string
	}{
		{"a function quotes its argument", `{{atoi (.Param "p")}}{{b64dec (.Param "p") | mustFromJson}}`, "", secret, "the reason is left out"},
		{"fail", `{{fail (.Param "p")}}`, "", secret, "the reason is left out"},
		{"fail with words of the template", `{{$_ := .Param "p"}}{{fail "choose a disk"}}`, "", secret, ": choose a disk"},
		{"a missing key", `{{index (dict) (.Param "p")}}{{(dict "a" 1).x}}`, "", secret, "spec.templates[0].contents:1:"},
		{"a field of it", `{{(.Param "p").hunter}}`, "", secret, "the reason is left out"},
		{"a param of that name", `{{.Param (.Param "p")}}`, "", secret, `param "(secret)" has no value`},
		{"a template of that name", `{{.CallTemplate (.Param "p") .}}`, "", secret, `no Template is named "(secret)"`},
		{"a style of that name", `{{.Machine.MacAddr (.Param "p")}}`, "", secret, `no style "(secret)"`},
		{"a short one", `{{.Machine.MacAddr (.Param "p")}}`, "", short, "the reason is left out"},
		{"expanded, and no template", `{{.ParamExpand "p"}}`, "", "{{ " + secret + " }}", "the reason is left out"},
		{"expanded, and wrong", `{{.ParamExpand "p"}}`, "", "{{ fail \"" + secret + "\" }}", "the reason is left out"},
		{"expanded, and a field", `{{.ParamExpand "p"}}`, "", "{{ ." + secret + " }}", "the reason is left out"},
		{"in a map with a short name", `{{.Param ((.Param "p").a)}}`, "", map[string]any{"a": secret}, "the reason is left out"},
		{"composed", `{{.Param (first (.ParamCompose "p"))}}`, "", []any{secret}, `param "(secret)" has no value`},
		{"as JSON", `{{fail (.ParamAsJSON "p")}}`, "", secret, "the reason is left out"},
		{"a type", "x", `{"type":"integer"}`, secret, "server: params.p does not fit the schema: by type"},
		{"a pattern", "x", `{"pattern":"^x"}`, secret, "does not fit the schema: by pattern"},
		{"a format", "x", `{"format":"ipv4"}`, secret, "does not fit the schema: by format"},
		{"names of fields", "x", `{"additionalProperties":false}`, map[string]any{secret: 1}, "does not fit the schema: by additionalProperties"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := sourced(t, row.text, row.schema)
			b.Params[0].Values["p"], b.Params[0].Secret = row.value, []string{"p"}
			e, err := Merge(b)
			if err == nil {
				_, err = e.Render(context.Background(), Sample())
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
			for e := err; e != nil; e = unwrap(e) {
				if text := e.Error() + protocol.HintOf(e); strings.Contains(text, secret) || row.value == short && strings.Contains(text, `"`+short) {
					t.Errorf("the secret is in it: %s", text)
				}
			}
		})
	}
	t.Run("package-repositories", func(t *testing.T) {
		b := sourced(t, "x", "")
		b.Params[0].Values[resource.ParamPackageRepositories], b.Params[0].Secret = []any{map[string]any{secret: secret}}, []string{resource.ParamPackageRepositories}
		if _, err := Merge(b); err == nil || strings.Contains(err.Error(), secret) {
			t.Error(err)
		}
	})
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}
