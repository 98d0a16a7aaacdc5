package daemon

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/secret"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestRegistryAccountOfSecret: what is wrong with the Secret of a registry is no fault of
// the image, so that it is asked again; a corrected one counts at once.
func TestRegistryAccountOfSecret(t *testing.T) {
	kek, ids := strings.Repeat("ab", 32), 0
	vault := secret.New(secret.Config{
		Current: &secret.Source{Env: "KEY"}, Getenv: func(string) string { return kek }, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	mem := storetest.NewMemory()
	st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, Vault: vault, NewID: func() string {
		ids++
		return fmt.Sprintf("id%06d", ids)
	}})
	if err != nil {
		t.Fatal(err)
	}
	vault.Start(t.Context(), st.Secrets, st.Meta)
	ask := secrets{st.Objects, st.Secrets, vault}.accounts([]RegistryAccount{{Host: "registry.example", Secret: "reg", TokenHosts: []string{"tokens.example"}}})
	write := func(kind resource.SecretType, data resource.SecretData) {
		t.Helper()
		v := &resource.Secret{Spec: resource.SecretSpec{Type: kind, Data: data}}
		v.Metadata.Name = "reg"
		v.Default()
		if _, err := st.Sets.Apply(t.Context(), []resource.Object{v}, store.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(why, text string) {
		t.Helper()
		if _, err := ask(t.Context(), "registry.example"); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), text) || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", why, err, protocol.HintOf(err))
		}
	}
	refused("no Secret", "does not exist")
	if a, err := ask(t.Context(), "other.example"); err != nil || a.Username+a.Token != "" {
		t.Errorf("a registry without an account: %v", err)
	}
	write(resource.SecretRegistry, resource.SecretData{resource.SecretUsername: resource.Plain("u"), resource.SecretPassword: resource.Plain("p")})
	if a, err := ask(t.Context(), "registry.example"); err != nil || a.Username != "u" || a.Password != "p" || a.Token != "" || len(a.TokenHosts) != 1 {
		t.Errorf("name and password: %v", err)
	}
	write(resource.SecretRegistry, resource.SecretData{resource.SecretToken: resource.Plain("t")})
	if a, err := ask(t.Context(), "registry.example"); err != nil || a.Username+a.Password != "" || a.Token != "t" {
		t.Errorf("token: %v", err)
	}
	kek = strings.Repeat("cd", 32)
	other := secret.New(secret.Config{
		Current: &secret.Source{Env: "KEY"}, Getenv: func(string) string { return kek }, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	other.Start(t.Context(), st.Secrets, st.Meta)
	ask = secrets{st.Objects, st.Secrets, other}.accounts([]RegistryAccount{{Host: "registry.example", Secret: "reg"}})
	refused("another key", `Secret "reg"`)
}
