package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"rackboot/bmc/redfish"
)

// 428 asks for a tag that the first read did not have (AMI, Tacklebox #144); 412
// for another one; where there is none at all, * stands for any.
func TestPreconditions(t *testing.T) {
	tests := []struct {
		name  string
		tags  []string // of the reads; the last stays
		takes string   // the If-Match that is taken
		want  []string // what is sent
	}{
		{"428 and a tag", []string{"", `"1"`}, `"1"`, []string{"", `"1"`}},
		{"428 and no tag", []string{""}, "*", []string{"", "*"}},
		{"changed since", []string{`"1"`, `"2"`}, `"2"`, []string{`"1"`, `"2"`}},
		{"never the weak form", []string{`W/"1"`}, `"1"`, []string{`W/"1"`, `"1"`}},
		{"none of its own tags, and not without", []string{`W/"1"`}, "*", []string{`W/"1"`, `"1"`, "", "*"}},
		{"none of its own", []string{`W/"1"`}, "", []string{`W/"1"`, `"1"`, ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sent []string
			reads := 0
			stored := `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}}`
			d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
				match := r.Header.Get("If-Match")
				switch {
				case r.Method == http.MethodGet && r.URL.Path == "/redfish/v1/Systems/1":
					if tag := tt.tags[min(reads, len(tt.tags)-1)]; tag != "" {
						w.Header().Set("ETag", tag)
					}
					reads++
					fmt.Fprint(w, stored)
				case r.Method == http.MethodGet:
					fmt.Fprint(w, `{}`)
				default:
					sent = append(sent, match)
					switch match {
					case tt.takes:
						stored = `{"PowerState":"Off","Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`
						w.WriteHeader(http.StatusNoContent)
					case "":
						w.WriteHeader(http.StatusPreconditionRequired)
					default:
						w.WriteHeader(http.StatusPreconditionFailed)
					}
				}
			}))
			result, err := d.SetBoot(deadline(t), once("Pxe"))
			if err != nil || !result.Outcome.OK() || !slices.Equal(sent, tt.want) {
				t.Errorf("sent %q, want %q; %+v, %v", sent, tt.want, result, err)
			}
		})
	}
}
