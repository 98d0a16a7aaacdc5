package ignition

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
)

// authority is a certificate in PEM. The same key can have several.
func authority(t testing.TB, name string, ends time.Time, key *ecdsa.PrivateKey) string {
	t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(ends.Unix()), Subject: pkix.Name{CommonName: name}, NotBefore: ends.AddDate(-10, 0, 0), NotAfter: ends, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// trusting is a stub with authorities; each is a source and more fields of its entry.
func trusting(version string, entries ...string) string {
	return `{"ignition":{"version":"` + version + `","security":{"tls":{"certificateAuthorities":[` + strings.Join(entries, ",") + `]}}}}`
}

func entry(source, more string) string { return `{"source":"` + source + `"` + more + `}` }

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s)) // into memory
	_ = z.Close()
	return b.String()
}

func TestInspect(t *testing.T) {
	t.Parallel()
	ends := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	one, two := authority(t, "one", ends, newKey(t)), authority(t, "two", ends.AddDate(1, 0, 0), newKey(t))
	inner := trusting("2.2.0", entry(dataURL([]byte(two)), ""), entry("http://pki.example/", ""))
	for _, row := range []struct {
		name, raw string
		version   string
		cas       []string // path and subject
		remote    []string
		sources   []string
	}{
		{"none", in2("2.0.0", ""), "2.0.0", nil, nil, nil},
		{"specification 1", `{"ignitionVersion":1}`, "1", nil, nil, nil},
		{"2.2", trusting("2.2.0", entry(dataURL([]byte(one)), ""), entry(dataURL([]byte(two)), "")), "2.2.0", []string{authorityPath(0) + " CN=one", authorityPath(1) + " CN=two"}, nil, nil},
		{"a bundle", trusting("3.4.0", entry(dataURL([]byte("# ours\n"+one+"\n"+two)), "")), "3.4.0", []string{authorityPath(0) + " CN=one", authorityPath(0) + " CN=two"}, nil, nil},
		{"compressed", trusting("3.1.0", entry(dataURL([]byte(zipped(one))), `,"compression":"gzip"`)), "3.1.0", []string{authorityPath(0) + " CN=one"}, nil, nil},
		{"percents", trusting("3.0.0", entry("data:,"+strings.NewReplacer("\n", "%0A", "+", "%2B").Replace(one), "")), "3.0.0", []string{authorityPath(0) + " CN=one"}, nil, nil},
		{"from elsewhere", trusting("2.4.0", entry("https://pki.example/"+canary, "")), "2.4.0", nil, []string{authorityPath(0)}, nil},
		{
			"included", `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://u:` + canary + `@api.example:22623/` + canary + `?t=` + canary + `"},{"source":"` + dataURL([]byte(inner)) + `"}],"replace":{"source":"tftp://t/x"}}}}`,
			"2.2.0",
			[]string{"$.ignition.config.append[1].source>" + authorityPath(0) + " CN=two"},
			[]string{"$.ignition.config.append[1].source>" + authorityPath(1)},
			[]string{"https://api.example:22623", "tftp://t"},
		},
		{"Butane", "variant: fcos\nversion: 1.5.0\nignition:\n  config:\n    merge:\n      - source: https://conf.example/x\n", "3.4.0", nil, nil, []string{"https://conf.example"}},
	} {
		s, err := Inspect([]byte(row.raw))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		var cas []string
		for _, c := range s.CAs {
			cas = append(cas, c.Path+" "+c.Subject)
		}
		if s.Version != row.version || !slices.Equal(cas, row.cas) || !slices.Equal(s.RemoteCAs, row.remote) || !slices.Equal(s.Sources, row.sources) {
			t.Errorf("%s: %q %q %q %q", row.name, s.Version, cas, s.RemoteCAs, s.Sources)
		}
		if len(s.CAs) > 0 && (s.CAs[0].NotAfter.Year() < 2030 || len(s.CAs[0].Raw) == 0) {
			t.Errorf("%s: %v", row.name, s.CAs[0])
		}
	}
	for _, row := range []struct{ name, raw, path string }{
		{"no JSON", "{" + canary, "$"},
		{"no version", "{}", "$.ignition.version"},
		{"no certificate", trusting("2.2.0", entry("data:,"+canary, "")), authorityPath(0) + ".source"},
		{"a broken certificate", trusting("2.2.0", entry(dataURL([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")), "")), authorityPath(0) + ".source"},
		{"another hash", trusting("2.2.0", entry(dataURL([]byte(one)), `,"verification":{"hash":"sha512-`+canary+`"}`)), authorityPath(0) + ".source"},
		{"a broken URL", trusting("2.2.0", entry("data:;base64,"+canary+"!", "")), authorityPath(0) + ".source"},
		{"not compressed", trusting("3.1.0", entry(dataURL([]byte(one)), `,"compression":"gzip"`)), authorityPath(0) + ".source"},
		{"a bomb", trusting("3.1.0", entry(dataURL([]byte(zipped(strings.Repeat(" ", maxBytes+1)))), `,"compression":"gzip"`)), authorityPath(0) + ".source"},
		{"many that are long", trusting("3.1.0", entry(dataURL([]byte(one+strings.Repeat(" ", int(maxInline)/2))), ""), entry(dataURL([]byte(one+strings.Repeat(" ", int(maxInline)/2))), "")), authorityPath(1) + ".source"},
		{"an included script", includingOf("2.2.0", "append", "#!"+canary), "$.ignition.config.append[0].source>$"},
		{"too deep", nestedTimes(6), strings.Repeat("$.ignition.config.append[0].source>", 4) + "$.ignition.config.append[0].source"},
	} {
		_, err := Inspect([]byte(row.raw))
		if r := refusalOf(err); r == nil || r.Path != row.path || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v; want %s", row.name, err, row.path)
		}
	}
}

func TestCheckCAExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	stub := Stub{CAs: []CA{
		{Path: "late", NotAfter: now.Add(31 * 24 * time.Hour)},
		{Path: "soon", NotAfter: now.Add(30 * 24 * time.Hour)},
		{Path: "now", NotAfter: now},
		{Path: "past", NotAfter: now.Add(-time.Second), Subject: "CN=past"},
	}}
	var got []string
	for _, f := range CheckCA(stub, now, 30*24*time.Hour, "") {
		got = append(got, string(f.Kind)+" "+f.Path+f.Subject)
		if f.Message == "" || f.NotAfter.IsZero() {
			t.Errorf("%+v", f)
		}
	}
	if want := []string{"Expired pastCN=past", "Expiring now", "Expiring soon"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCheckCAMismatch(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mine, theirs := newKey(t), newKey(t)
	own := authority(t, "root", now.AddDate(5, 0, 0), mine)
	stub := func(has, remote bool) Stub {
		var entries []string
		if has {
			entries = append(entries, entry(dataURL([]byte(own)), ""))
		}
		if remote {
			entries = append(entries, entry("https://pki.example/ca", ""))
		}
		s, err := Inspect([]byte(trusting("2.2.0", entries...)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	of := func(s Stub, serverCA string) string {
		if f := CheckCA(s, now, 0, serverCA); len(f) > 0 {
			return string(f[0].Kind)
		}
		return "nothing"
	}
	doctable.Of(t, "checkca.go", "CheckCA").HoldOne(t, [][]string{{"none", "unreadable", "readable"}, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return of(stub(in[1] == "yes", in[2] == "yes"), map[string]string{"none": "", "unreadable": "x", "readable": own}[in[0]])
	})
	for _, row := range []struct{ name, server, want string }{
		{"another authority", authority(t, "root", now.AddDate(5, 0, 0), theirs), "Mismatch"},
		{"the same, issued anew", authority(t, "root", now.AddDate(9, 0, 0), mine), "nothing"},
		{"the same key under another name", authority(t, "other", now.AddDate(5, 0, 0), mine), "Mismatch"},
		{"the old and the new while it changes", authority(t, "next", now.AddDate(5, 0, 0), theirs) + own, "nothing"},
	} {
		if got := of(stub(true, false), row.server); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestReplaceCA(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a, b := authority(t, "a", now.AddDate(1, 0, 0), newKey(t)), authority(t, "b", now.AddDate(2, 0, 0), newKey(t))
	many, err := os.ReadFile("testdata/stubs/2.2-append-and-authorities.json")
	if err != nil {
		t.Fatal(err)
	}
	inner := trusting("3.2.0", entry(dataURL([]byte(a)), ""))
	for _, row := range []struct {
		name, raw, max string
		want           []string // subjects
		keeps          string   // a part of the result
	}{
		{"2.2 becomes 3.1", string(many), "", []string{"CN=a", "CN=b"}, "api-int.c1.example"},
		{"2.2 stays", string(many), "2.2.0", []string{"CN=a", "CN=b"}, `"version":"2.2.0"`},
		{"3 with others", trusting("3.0.0", entry("https://pki.example/", "")), "3.0.0", []string{"CN=a", "CN=b"}, "3.0.0"},
		{"3 without, and what nobody knows", `{"remark":[1.50],"ignition":{"version":"3.4.0"}}`, "", []string{"CN=a", "CN=b"}, `{"remark":[1.50],`},
		{"in what is included, where there are some", includingOf("3.2.0", "merge", inner), "", []string{"CN=a", "CN=b", "CN=a", "CN=b"}, "merge"},
		{"not in what is included without", includingOf("3.2.0", "merge", in2("3.2.0", "")), "", []string{"CN=a", "CN=b"}, dataURL([]byte(in2("3.2.0", "")))},
		{"specification 1 becomes 3.1", `{"ignitionVersion":1}`, "", []string{"CN=a", "CN=b"}, "3.1.0"},
	} {
		o := TranslateOptions{Max: row.max, ReplaceCA: a + "noise\n" + b + a}
		out, err := Translate([]byte(row.raw), o)
		if err != nil || !out.Changed || !bytes.Contains(out.Config, []byte(row.keeps)) {
			t.Errorf("%s: %v, %s", row.name, err, out.Config)
			continue
		}
		s, err := Inspect(out.Config)
		var subjects []string
		for _, c := range s.CAs {
			subjects = append(subjects, c.Subject)
		}
		if err != nil || !slices.Equal(subjects, row.want) || len(s.RemoteCAs) > 0 {
			t.Errorf("%s: %v, %q, %q", row.name, err, subjects, s.RemoteCAs)
		}
		if again, err := Translate(out.Config, o); err != nil || again.Changed {
			t.Errorf("%s: the same again is a change: %v", row.name, err)
		}
	}
	if _, err := Translate([]byte(in2("2.1.0", "")), TranslateOptions{Max: "2.4.0", ReplaceCA: a}); refusalOf(err) == nil || refusalOf(err).Class != Invalid {
		t.Error(err)
	}
	if _, err := Translate([]byte(in2("2.2.0", "")), TranslateOptions{ReplaceCA: canary}); err == nil || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

// FuzzInspect: nobody panics, and what is inspected is not changed by being translated.
func FuzzInspect(f *testing.F) {
	old, err := os.ReadFile("testdata/ca/old.pem")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		`[1]`, `null`, `"x"`, `{}`, `{"ignition":{"version":"2.2.0","security":[]}}`, trusting("2.2.0", "1", "null", entry(dataURL(old), "")),
		trusting("3.1.0", entry(dataURL([]byte(zipped(string(old)))), `,"compression":"gzip"`)), includingOf("2.4.0", "append", trusting("2.2.0", entry(dataURL(old), ""))),
		`{"ignition":{"version":"3.1.0","config":{"merge":{},"replace":[]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Inspect(raw)
		if err != nil {
			if r := refusalOf(err); r == nil || !strings.HasPrefix(r.Path, "$") {
				t.Errorf("%v", err)
			}
			return
		}
		CheckCA(s, time.Now(), time.Hour, string(old))
		out, err := Translate(raw, TranslateOptions{AcceptLoss: true})
		if err != nil {
			return
		}
		after, err := Inspect(out.Config)
		if err != nil || len(after.CAs) > len(s.CAs) || len(after.Sources) != len(s.Sources) {
			t.Errorf("%q: %v; before %+v, after %+v", raw, err, s, after)
		}
	})
}
