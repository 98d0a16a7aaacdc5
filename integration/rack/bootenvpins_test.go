package rack

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/mirror"
	"rackboot/protocol/resource"
)

// repository serves the files of a medium as a package repository, which the next agent may
// read.
func (b *bench) repository(files map[string]string) (url string) {
	b.t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/debian/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if status, trouble := strings.CutPrefix(content, "HTTP "); trouble {
			code, _ := strconv.Atoi(status)
			w.WriteHeader(code)
			return
		}
		http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(content))
	}))
	b.t.Cleanup(s.Close)
	url = s.URL + "/debian/"
	m, err := mirror.New(mirror.Config{Dir: b.t.TempDir(), Bases: []mirror.Base{{URL: url}}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := m.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.mirror = m
	return url
}

// fromRepository is the environment of debian whose files come from a repository.
func (b *bench) fromRepository(i int, url string, more map[string]any) resource.EnvBundle {
	bundle := b.debian(i, resource.EnvISO{})
	bundle.ISOs = nil
	values := map[string]any{resource.ParamPackageRepositories: []any{map[string]any{
		"tag": "debian-12", "os": []any{"debian-12"}, "arch": "amd64", "url": url, "installSource": true,
		"distribution": "bookworm", "components": []any{"main"},
	}}}
	maps.Copy(values, more)
	bundle.Params = append(bundle.Params, resource.EnvParams{Source: resource.SourceProfile + resource.GlobalProfile, Values: values})
	return bundle
}

// TestBootEnvPins: what a repository gave for an environment is kept as long as that is
// wanted or in force, and no longer, though it was refused after its files were brought:
// where another is wanted by now, and where its server was let go while the agent was down.
func TestBootEnvPins(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(b *bench, url string)
		want   func(b *bench) []string
	}{
		"another is wanted": {
			func(b *bench, url string) { b.claimEnv(0, b.fromRepository(0, url, nil)) },
			func(b *bench) []string { return []string{b.intents[0].Server + " " + b.intents[0].Boot.Env.Bundle} },
		},
		"the server was let go": {
			func(b *bench, _ string) {
				b.intents[0].Boot, b.intents[0].Owner.Name, b.intents[0].Owner.UID = nil, "", ""
			},
			func(*bench) []string { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			b.loaders = loaderFolder(t, true)
			url := b.repository(installFiles())
			b.claimEnv(0, b.fromRepository(0, url, map[string]any{resource.ParamBootloaders: map[string]any{"amd64-uefi-http": "no/such.efi"}}))
			b.intents[0].Power = resource.WantOff // nothing is booted
			a, stop := b.start(nil)
			b.send(a)
			b.until("the refusal", 0, refusedEnv)
			if got := b.mirror.Pins(); len(got) != 1 {
				t.Fatalf("pinned: %q", got)
			}
			stop()
			row.change(b, url)
			a, _ = b.start(nil)
			b.send(a)
			b.eventually("only what is needed is pinned", func() bool { return slices.Equal(b.mirror.Pins(), row.want(b)) })
		})
	}
}
