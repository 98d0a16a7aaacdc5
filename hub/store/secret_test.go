package store

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// clearVault is a Vault that tests can read: what counts here is what is stored when.
type clearVault struct{ broken bool }

func (v *clearVault) Digest(_ string, t resource.SecretType, data resource.SecretData) (string, error) {
	if v.broken {
		return "", protocol.Errorf(protocol.CodeUnavailable, "use secrets", "no key").WithHint("give one")
	}
	return fmt.Sprintf("%s %d %s", t, len(data), string(data["password"])), nil
}

func (v *clearVault) Seal(id SecretID, data resource.SecretData) ([]byte, error) {
	return fmt.Appendf(nil, `{"of":%q,"version":%d,"is":%q}`, id.Name+"/"+id.UID, id.Version, string(data["password"])), nil
}

func bmcSecret(name, password string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretBMC, Data: resource.SecretData{
		resource.SecretUsername: resource.Plain("admin"), resource.SecretPassword: resource.Plain(password),
	}}}
	s.Metadata.Name = name
	s.Default()
	return s
}

func withVault(t *testing.T) (*Store, *clearVault) {
	t.Helper()
	s, v := open(t, storetest.NewMemory()), &clearVault{}
	s.Secrets.vault = v
	return s, v
}

func (ss *Secrets) envelope(t *testing.T, name string) string {
	t.Helper()
	v, err := ss.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Envelope)
}

func TestDataTable(t *testing.T) {
	f, err := os.Open("secret.go")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	for in := bufio.NewScanner(f); in.Scan(); {
		if text, ok := strings.CutPrefix(in.Text(), "//\t"); ok {
			cells := strings.Split(text, "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) != 6 || !slices.Equal(rows[0], []string{"data", "stored", "type stays", "same digest", "verdict"}) {
		t.Fatalf("%q", rows)
	}
	used := map[int]bool{}
	for n := range 16 {
		in := []bool{n&1 > 0, n&2 > 0, n&4 > 0, n&8 > 0}
		i := slices.IndexFunc(rows[1:], func(cells []string) bool {
			for j, c := range cells[:4] {
				if c != "*" && (c == "yes") != in[j] {
					return false
				}
			}
			return true
		})
		if i < 0 {
			t.Fatalf("no row for %v", in)
		}
		used[i] = true
		if got := judgeData(in[0], in[1], in[2], in[3]); string(got) != rows[i+1][4] {
			t.Errorf("%v: %s, the table says %s", in, got, rows[i+1][4])
		}
	}
	if len(used) != len(rows)-1 {
		t.Errorf("rows %v are used, of %d", used, len(rows)-1)
	}
}

// The data is never in what is read back, the version grows with it and with nothing
// else, and a Secret without data keeps what it has.
func TestApplySecret(t *testing.T) {
	s, _ := withVault(t)
	in := bmcSecret("bmc", "one")
	step := func(what string, obj *resource.Secret, want Outcome, version uint64, is string) {
		t.Helper()
		r := apply(t, s, obj)[0]
		got, err := Get[*resource.Secret](s.Objects, "bmc")
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != want || got.Status.Version != version || r.Object.(*resource.Secret).Spec.Data != nil || got.Spec.Data != nil {
			t.Errorf("%s: %s, version %d", what, r.Outcome, got.Status.Version)
		}
		if e := s.Secrets.envelope(t, "bmc"); !strings.Contains(e, fmt.Sprintf("%q", is)) || !strings.Contains(e, fmt.Sprintf(`"version":%d`, version)) || !strings.Contains(e, got.Metadata.UID) {
			t.Errorf("%s: stored is %s", what, e)
		}
	}
	step("new", in, Created, 1, "one")
	if string(in.Spec.Data[resource.SecretPassword]) != "one" {
		t.Error("Apply changed its input")
	}
	step("again", in, Unchanged, 1, "one")
	labelled := bmcSecret("bmc", "one")
	labelled.Metadata.Labels = map[string]string{"a": "b"}
	step("a label", labelled, Configured, 1, "one")
	bare := bmcSecret("bmc", "")
	bare.Spec.Data = nil
	step("without data", bare, Configured, 1, "one")
	step("other data", bmcSecret("bmc", "two"), Configured, 2, "two")
	forged := bmcSecret("bmc", "two")
	forged.Status = resource.SecretStatus{Version: 77, Digest: "x"}
	step("a status of the caller's", forged, Unchanged, 2, "two")

	if err := s.Objects.Put(t.Context(), bmcSecret("bmc", "three")); protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("a Put that would lose the data: %v", err)
	}
	v, err := s.Secrets.Get("bmc")
	if err != nil {
		t.Fatal(err)
	}
	v.Envelope = []byte(`{"is":"wrapped"}`)
	if err := s.Secrets.Rewrap(t.Context(), v); err != nil || !strings.Contains(s.Secrets.envelope(t, "bmc"), "wrapped") {
		t.Errorf("%v", err)
	}
	wantCode(t, s.Secrets.Rewrap(t.Context(), v), protocol.CodeConflict) // at an old revision
	if all := s.Secrets.List(); len(all) != 1 || all[0].Version != 2 {
		t.Errorf("%+v", all)
	}
}

func TestSecretsRefused(t *testing.T) {
	s, v := withVault(t)
	bare := bmcSecret("new", "")
	bare.Spec.Data = nil
	refused(t, s, "needs its data", bare)
	apply(t, s, bmcSecret("bmc", "one"))
	typed := bmcSecret("bmc", "")
	typed.Spec.Type, typed.Spec.Data = resource.SecretGeneric, nil
	refused(t, s, "where the type changes", typed)
	b := storetest.BMC("b1", "r1")
	b.Spec.CredentialsRef = "secret:none"
	refused(t, s, `Secret "none" does not exist`, storetest.Rack("r1"), b)
	generic := bmcSecret("other", "x")
	generic.Spec.Type = resource.SecretGeneric
	b.Spec.CredentialsRef = "secret:other"
	refused(t, s, "not bmc-credentials", storetest.Rack("r1"), b, generic)

	// In use it is neither deleted nor of another type.
	b.Spec.CredentialsRef = "secret:bmc"
	apply(t, s, storetest.Rack("r1"), b)
	_, err := s.Delete(t.Context(), resource.KindSecret, "bmc")
	if wantCode(t, err, protocol.CodeConflict); !strings.Contains(err.Error(), "BMC/b1") {
		t.Errorf("%v", err)
	}
	other := bmcSecret("bmc", "one")
	other.Spec.Type = resource.SecretRegistry
	refused(t, s, "cannot change from bmc-credentials while BMC/b1", other)
	if who := s.Secrets.Users("bmc"); !slices.Equal(who, []string{"BMC/b1"}) {
		t.Errorf("used by %v", who)
	}

	v.broken = true
	_, err = s.Sets.Apply(t.Context(), []resource.Object{bmcSecret("bmc", "two")}, ApplyOptions{})
	wantCode(t, err, protocol.CodeUnavailable)
	s.Secrets.vault = nil
	_, err = s.Sets.Apply(t.Context(), []resource.Object{bmcSecret("bmc", "two")}, ApplyOptions{})
	wantCode(t, err, protocol.CodeUnavailable)
	if !strings.Contains(s.Secrets.envelope(t, "bmc"), "one") {
		t.Error("what could not be encrypted was stored")
	}
}

// What was sealed is kept until its BMC is gone or has local credentials.
func TestSealed(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	s.Secrets.vault = &clearVault{}
	b := storetest.BMC("b1", "r1")
	b.Spec.CredentialsRef = "secret:bmc"
	apply(t, s, storetest.Rack("r1"), bmcSecret("bmc", "one"), b)
	if s.Credentials.Peek("b1") != nil {
		t.Error("something is there")
	}
	v := &Sealed{BMC: "b1", Agent: "r1-1", Key: "k", SealedCredentials: message.SealedCredentials{Secret: "bmc", Version: 1, Ciphertext: []byte("x")}}
	for range 2 {
		if err := s.Credentials.Put(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Credentials.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := open(t, mem)
	for _, s := range []*Store{s, again} {
		got := s.Credentials.Peek("b1")
		if got == nil || got.Agent != "r1-1" || string(got.Ciphertext) != "x" || got.Revision != v.Revision || s.Credentials.Peek("b1") != got {
			t.Errorf("%+v", got)
		}
	}
	wantCode(t, s.Credentials.Put(t.Context(), &Sealed{BMC: "b1"}), protocol.CodeConflict)
	wantCode(t, s.Credentials.Put(t.Context(), &Sealed{BMC: "a b"}), protocol.CodeInvalid)
	apply(t, s, storetest.BMC("b1", "r1"))
	if err := s.Credentials.Sweep(t.Context()); err != nil || s.Credentials.Peek("b1") != nil {
		t.Errorf("it is still there: %v", err)
	}
}
