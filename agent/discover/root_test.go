package discover

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestDecodeRoot(t *testing.T) {
	const id = "92384634-2938-2342-8820-489239905423"
	for _, row := range []struct {
		name, body string
		want       root
		wrong      bool
	}{
		{"whole", `{"@odata.type":"#ServiceRoot.v1_15_0.ServiceRoot","RedfishVersion":"1.17.0","Vendor":"Contoso","Product":"UR99","UUID":"` + id + `"}`, root{"Contoso", "UR99", id, "1.17.0"}, false},
		{"before Vendor and Product were in the schema (v1.5, v1.3)", `{"@odata.type":"#ServiceRoot.v1_0_2.ServiceRoot","RedfishVersion":"1.0.1"}`, root{redfish: "1.0.1"}, false},
		{"the type alone", `{"@odata.type":"#ServiceRoot.v1_0_0.ServiceRoot"}`, root{}, false},
		{"the version alone", `{"RedfishVersion":"1.0.0"}`, root{redfish: "1.0.0"}, false},
		{"a byte order mark", "\xef\xbb\xbf" + `{"RedfishVersion":"1.0.0"}`, root{redfish: "1.0.0"}, false},
		{"properties of other types", `{"RedfishVersion":"1.0.0","Vendor":7,"Product":null,"UUID":[]}`, root{redfish: "1.0.0"}, false},
		{"UUID in upper case", `{"RedfishVersion":"1.0.0","UUID":"` + strings.ToUpper("aa"+id[2:]) + `"}`, root{redfish: "1.0.0", uuid: "aa" + id[2:]}, false},
		{"no UUID", `{"RedfishVersion":"1.0.0","UUID":"00000000-0000-0000-0000+000000000000"}`, root{redfish: "1.0.0"}, false},
		{"a terminal's escapes", `{"RedfishVersion":"1.0.0","Vendor":"a\u001b[31mb\nc\u0085","Product":"\u202e☃"}`, root{vendor: "a?[31mb?c?", product: "??", redfish: "1.0.0"}, false},
		{"too long", `{"RedfishVersion":"1.0.0","Vendor":"` + strings.Repeat("v", 99) + `","Product":"` + strings.Repeat("☃", 99) + `"}`, root{vendor: strings.Repeat("v", maxVendor), product: strings.Repeat("?", maxProduct), redfish: "1.0.0"}, false},
		{"a version that is none", `{"@odata.type":"#ServiceRoot.v1_0_0.ServiceRoot","RedfishVersion":"<b>"}`, root{}, false},
		{"another resource", `{"@odata.type":"#Chassis.v1_0_0.Chassis"}`, root{}, true},
		{"not an object", `["RedfishVersion"]`, root{}, true},
		{"null", `null`, root{}, true},
		{"a page", `<html>`, root{}, true},
		{"cut off", `{"RedfishVersion":"1.0.0"`, root{}, true},
		{"nothing", ``, root{}, true},
	} {
		got, err := decodeRoot([]byte(row.body))
		if got != row.want || (err != nil) != row.wrong {
			t.Errorf("%s: %+v, %v", row.name, got, err)
		}
	}
}

// FuzzDecodeRoot: whatever a stranger sends, what is kept is short and can be printed.
func FuzzDecodeRoot(f *testing.F) {
	for _, s := range []string{
		`{"@odata.type":"#ServiceRoot.v1_15_0.ServiceRoot","RedfishVersion":"1.17.0","Vendor":"Contoso","Product":"UR99","UUID":"92384634-2938-2342-8820-489239905423"}`,
		`{"RedfishVersion":"1.0.0","Vendor":"\u001b[31m","Product":"\ud800","UUID":"------------------------------------"}`,
		"\xef\xbb\xbf{}", `{"RedfishVersion":{"a":[[[[]]]]}}`, `[]`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeRoot(body)
		if err != nil && r != (root{}) {
			t.Fatalf("refused, and kept %+v", r)
		}
		if err == nil && !json.Valid([]byte(strings.TrimPrefix(string(body), "\xef\xbb\xbf"))) {
			t.Fatal("taken, and is not JSON")
		}
		for s, limit := range map[string]int{r.vendor: maxVendor, r.product: maxProduct, r.redfish: maxVersion, r.uuid: 36} {
			if s != "" && len(s) > max(limit, maxProduct) {
				t.Fatalf("%q is too long", s)
			}
			for _, c := range s {
				if c > unicode.MaxASCII || !unicode.IsPrint(c) {
					t.Fatalf("%q cannot be printed", s)
				}
			}
		}
	})
}
