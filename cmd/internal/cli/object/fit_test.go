package object

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol/api"
)

// TestFit: files are held against the schemas of the hub that is asked, and of a hub that has none against
// none.
func TestFit(t *testing.T) {
	set, err := manifest.Parse([]manifest.Source{{Name: "r.yaml", Data: []byte("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\nspec:\n  standby: true\n")}})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	older := http.NewServeMux()
	older.HandleFunc("GET /schemas/rack.json", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Write([]byte(`{"properties": {"spec": {"properties": {"description": {}, "stand": {}}, "additionalProperties": false}}}`)) //nolint:errcheck // a test
	})
	none := http.NewServeMux()
	none.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"code": "not_found", "title": "no such route"}`)) //nolint:errcheck // a test
	})
	for _, row := range []struct {
		name string
		hub  http.Handler
		want string
	}{
		{"an older hub", older, "r.yaml:5: spec.standby: is no field that the hub knows; did you mean stand?; there are description, stand"},
		{"a hub without schemas", none, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			hub := httptest.NewServer(row.hub)
			defer hub.Close()
			c, err := api.NewClient(api.Config{BaseURL: hub.URL, Token: "t"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			asked = 0
			err = (&fitter{client: c}).fit(t.Context(), set)
			if asked != 1 {
				t.Errorf("the hub was asked %d times", asked)
			}
			if row.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			errs, is := errors.AsType[manifest.Errors](err)
			if !is || len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), row.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
