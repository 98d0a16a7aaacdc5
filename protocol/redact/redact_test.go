package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const canary = "cAnArY0123456789abcdefSECRET"

// TestText: in each form in which a secret was seen in logs and documents it is gone, and what
// stands around it is not.
func TestText(t *testing.T) {
	pem := "-----BEGIN EC PRIVATE KEY-----\n" + canary + "\n-----END EC PRIVATE KEY-----"
	for _, tc := range []struct{ in, want string }{
		{"before " + pem + " after", "before " + Mark + " after"},
		{"cut off: -----BEGIN PRIVATE KEY-----\n" + canary, "cut off: " + Mark},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----\n" + canary + "\n-----END PGP PRIVATE KEY BLOCK-----\n", Mark + "\n"},
		{"identity AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L.", "identity " + Mark + "."},
		{"jwt eyJhbGciOiJub25lIn0." + canary + ". end", "jwt " + Mark + " end"},
		{"GET / Authorization: Bearer " + canary, "GET / Authorization: " + Mark},
		{`sent "Bearer ` + canary + `" twice`, `sent "Bearer ` + Mark + `" twice`},
		{"X-Auth-Token: " + canary + "\nHost: bmc", "X-Auth-Token: " + Mark + "\nHost: bmc"},
		{"dial https://admin:" + canary + "@bmc1.example.com/redfish/v1", "dial https://" + Mark + "@bmc1.example.com/redfish/v1"},
		{"served http://192.0.2.1/b/" + canary + "/boot.efi", "served http://192.0.2.1/b/" + Mark + "/boot.efi"},
		{"hash $6$rounds=4096$" + canary + "/x.", "hash " + Mark},
		{`level=WARN msg=refused password="` + canary + ` two" server=n1`, `level=WARN msg=refused password=` + Mark + ` server=n1`},
		{"?token=" + canary + "&after=3", "?token=" + Mark + "&after=3"},
		{`{"clientSecret":"` + canary + `"}`, `{"clientSecret":` + Mark + `}`},
		{`msg="{\"password\":\"` + canary + `\"}"`, `msg="{\"password\":` + Mark + `}"`},
		// What is no secret stays.
		{"server n1 is held by ops, key maintenance", "server n1 is held by ops, key maintenance"},
		{"image registry.example.com/os@sha256:711426df305d84c3e7175c3a1ed8aba8065ec1e0439a3de1935b5572bdc2e562", "image registry.example.com/os@sha256:711426df305d84c3e7175c3a1ed8aba8065ec1e0439a3de1935b5572bdc2e562"},
		{"the file http://192.0.2.1/b/…/boot.efi", "the file http://192.0.2.1/b/…/boot.efi"},
		{"secret bmc-account is missing", "secret bmc-account is missing"},
	} {
		got := New().Text(tc.in)
		if got != tc.want {
			t.Errorf("%q\nbecame %q\nwant   %q", tc.in, got, tc.want)
		}
		if again := New().Text(got); again != got {
			t.Errorf("%q became %q the second time", got, again)
		}
	}
}

// TestJSON: values of names that say secret, and secrets within other strings; references stay.
func TestJSON(t *testing.T) {
	raw := `{"spec":{"secretRef":{"name":"bmc"},"password":"` + canary + `","accessToken":["` + canary + `"],"size":9007199254740993,
		"nested":{"BMCPassword":"` + canary + `","url":"https://u:` + canary + `@h/"},"secrets":"bmc","token":null}}`
	got, err := New().JSON([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"spec":{"accessToken":"(redacted)","nested":{"BMCPassword":"(redacted)","url":"https://(redacted)@h/"},"password":"(redacted)","secretRef":{"name":"bmc"},"secrets":"bmc","size":9007199254740993,"token":null}}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, bad := range []string{"", "{", "{} {}", "nothing"} {
		if _, err := New().JSON([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// FuzzJSON: whatever is taken is JSON afterwards, and stays as it is.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"password":"x","a":["Bearer abcdefgh",1e400,null,true]}`))
	f.Add([]byte(`"-----BEGIN PRIVATE KEY-----"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := New().JSON(raw)
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
		again, err := New().JSON(got)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%q became %q, then %q: %v", raw, got, again, err)
		}
	})
}

// FuzzText: a text that was redacted has nothing left to redact, wherever a secret stands in it.
func FuzzText(f *testing.F) {
	f.Add("before ", " after")
	f.Add(`x="`, `"`)
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, secret := range []string{"AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----"} {
			got := New().Text(before + secret + after)
			if strings.Contains(got, "QQPZRY9X8GF2TVDW") || strings.Contains(got, canary) && !strings.Contains(before+after, canary) {
				t.Fatalf("%q left %q", before+secret+after, got)
			}
			if again := New().Text(got); again != got {
				t.Fatalf("%q became %q the second time", got, again)
			}
		}
	})
}
