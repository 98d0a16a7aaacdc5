package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// A table has the rows of what the list has, page by page, for each caller: what he does not see is in no row, and
// secrets are in none.
func TestListAsTable(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	secret := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretGeneric, Data: resource.SecretData{"password": resource.Plain("hidden-word")}}}
	secret.Head().Metadata.Name = "s1"
	if _, err := h.Store.Sets.Apply(t.Context(), []resource.Object{secret, storetest.Rack("r10"), storetest.Rack("r2")}, store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	h.Fleet.SetServer("n1", resource.ServerStatus{Phase: resource.PhaseReserved, Claim: "c1", Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable, Since: apitest.Now()}}})
	shown := 0
	for _, kind := range resource.Kinds() {
		for _, who := range []string{"admin", "row7"} {
			for _, wide := range []string{"", "true"} {
				var want, got []table.Row
				shape := table.New(kind, wide != "", true)
				for after := ""; ; {
					ask := []string{"limit", "2", "after", after}
					page := listed(t, a, who, kind.Plural(), ask...)
					if wide != "" {
						ask = append(ask, "wide", wide)
					}
					tab := listed(t, a, who, kind.Plural(), append(ask, "as", "table")...)
					if tab.status != page.status || tab.Next != page.Next {
						t.Fatalf("%s for %s: %d %d %q %q: %s", kind, who, tab.status, page.status, tab.Next, page.Next, tab.problem.Detail)
					}
					if page.status != http.StatusOK {
						break
					}
					if *tab.Revision != *page.Revision || len(tab.Items) != 0 || tab.Racks != nil || !slices.Equal(tab.Columns, shape.Columns()) {
						t.Errorf("%s for %s: %+v", kind, who, tab)
					}
					for i, raw := range page.Items {
						o := resource.NewObject(kind)
						if err := json.Unmarshal(raw, o); err != nil {
							t.Fatal(err)
						}
						rack := ""
						if i < len(page.Racks) {
							rack = page.Racks[i]
						}
						want = append(want, shape.Row(o, apitest.Now(), rack))
					}
					if got = append(got, tab.Rows...); page.Next == "" {
						break
					}
					after = page.Next
				}
				is, _ := json.Marshal(got)
				if should, _ := json.Marshal(want); string(is) != string(should) {
					t.Errorf("%s for %s:\n%s\nwant\n%s", kind, who, is, should)
				}
				if strings.Contains(string(is), "hidden-word") {
					t.Errorf("%s shows a secret", kind)
				}
				shown += len(got)
			}
		}
	}
	if shown < 24 {
		t.Errorf("%d rows: too few to show anything", shown)
	}
	// Without a limit all come, and racks too; selectors select.
	all := listed(t, a, "admin", "servers", "as", "table", "field", "status.phase=Reserved")
	if len(all.Rows) != 1 || all.Revision != nil || all.Rows[0].Ref.Name != "n1" || all.Rows[0].Cells[1].Text != "r1" || all.Rows[0].Cells[2].Tone != table.ToneOK {
		t.Errorf("%+v", all)
	}
	if none := listed(t, a, "admin", "servers", "as", "table", "selector", "row=9"); len(none.Rows) != 0 || len(none.Columns) == 0 {
		t.Errorf("without rows: %+v", none)
	}
	for name, row := range map[string]struct {
		query []string
		says  string
	}{
		"fields too":     {[]string{"as", "table", "only", "status.phase"}, "only and as=table"},
		"wide without":   {[]string{"wide", "true"}, "wide was given without"},
		"another form":   {[]string{"as", "list"}, `as="list"`},
		"no such column": {[]string{"as", "table", "field", "status.phse=x"}, "status.phse"},
	} {
		got := listed(t, a, "admin", "servers", row.query...)
		if got.status != http.StatusBadRequest || got.problem.Code != protocol.CodeInvalid || got.problem.Hint == "" || !strings.Contains(got.problem.Detail, row.says) {
			t.Errorf("%s: %d %+v", name, got.status, got.problem)
		}
	}
}
