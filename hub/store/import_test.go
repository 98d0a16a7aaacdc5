package store

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// exported is a site of which n1 has a claim with a configuration, and n2 a hold.
func exported(t *testing.T) map[string]resource.Object {
	t.Helper()
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	apply(t, s, storetest.Claim("c1", "n1"))
	cl, err := Get[*resource.Claim](s.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	cl.Status.Server = "n1"
	if err := s.Objects.Put(t.Context(), cl); err != nil {
		t.Fatal(err)
	}
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1", Owner: resource.Owner{Name: "c1", UID: cl.Metadata.UID}, BootSpec: resource.BootSpec{Image: resource.Image{Digest: "sha256:aa"}}}}
	cfg.Metadata.Name, cfg.Status.Adopted = "c1", &resource.Adopted{By: "admin"}
	if err := s.Objects.Put(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Holds.Create(t.Context(), storetest.Hold("cluster", "k", "n2")); err != nil {
		t.Fatal(err)
	}
	out := map[string]resource.Object{}
	for _, k := range ImportKinds() {
		for _, o := range s.Objects.Copies(k) {
			out[string(k)+"/"+o.Head().Metadata.Name] = o
			if k == resource.KindHold {
				out["hold"] = o
				delete(out, string(k)+"/"+o.Head().Metadata.Name)
			}
		}
	}
	return out
}

// imported imports a set and says by key what became of each.
func imported(t *testing.T, s *Store, set map[string]resource.Object, opts ImportOptions) map[string]Imported {
	t.Helper()
	var keys []string
	var objs []resource.Object
	for k, o := range set {
		keys, objs = append(keys, k), append(objs, o)
	}
	res, err := s.Sets.Import(t.Context(), objs, opts)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Imported{}
	for i, k := range keys {
		out[k] = res[i]
	}
	return out
}

// Each object is taken whole or not at all, and what refers to one that is not taken is
// not taken either; the rest is.
func TestImportTakesWholeOrNot(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(map[string]resource.Object)
		refused map[string]string // by key, a part of why
	}{
		{"as it was", func(map[string]resource.Object) {}, nil},
		{"no rack", func(m map[string]resource.Object) { delete(m, "Rack/r1") }, map[string]string{
			"BMC/b1": "Rack \"r1\" does not exist", "BMC/b2": "does not exist", "Segment/boot": "does not exist",
			"Server/n1": "", "Server/n2": "", "Claim/c1": "", "BootConfiguration/c1": "", "hold": "",
		}},
		{"a server without uid", func(m map[string]resource.Object) { m["Server/n1"].Head().Metadata.UID = "" }, map[string]string{
			"Server/n1": "uid", "Claim/c1": "not taken", "BootConfiguration/c1": "not taken",
		}},
		{"a uid that is a path", func(m map[string]resource.Object) { m["Server/n1"].Head().Metadata.UID = "../x.*" }, map[string]string{
			"Server/n1": "uid", "Claim/c1": "", "BootConfiguration/c1": "",
		}},
		{"a long uid", func(m map[string]resource.Object) { m["hold"].Head().Metadata.UID = strings.Repeat("x", maxUID+1) }, map[string]string{"hold": "uid"}},
		{"two servers of one uid", func(m map[string]resource.Object) { m["BMC/b2"].Head().Metadata.UID = m["BMC/b1"].Head().Metadata.UID }, nil},
		{"a claim that goes", func(m map[string]resource.Object) {
			m["Claim/c1"].Head().Metadata.DeletedAt = m["Claim/c1"].Head().Metadata.CreatedAt
		}, map[string]string{"Claim/c1": "being deleted", "BootConfiguration/c1": ""}},
		{"a configuration of another claim", func(m map[string]resource.Object) {
			m["BootConfiguration/c1"].(*resource.BootConfiguration).Spec.Owner.UID = "other"
		}, map[string]string{"BootConfiguration/c1": "not of a claim"}},
		{"a claim on another server than it names", func(m map[string]resource.Object) { m["Claim/c1"].(*resource.Claim).Status.Server = "n2" }, map[string]string{
			"Claim/c1": "the claim names", "BootConfiguration/c1": "",
		}},
		{"a hold without an owner", func(m map[string]resource.Object) { m["hold"].(*resource.Hold).Spec.Owner = "" }, map[string]string{"hold": "owner"}},
		{"a secret that was not made again", func(m map[string]resource.Object) {
			m["BMC/b1"].(*resource.BMC).Spec.CredentialsRef = "secret:bmc"
		}, map[string]string{"BMC/b1": "Secret \"bmc\" does not exist", "Server/n1": "", "Claim/c1": "", "BootConfiguration/c1": ""}},
		{"an agent", func(m map[string]resource.Object) {
			a := &resource.Agent{}
			a.Metadata = m["Rack/r1"].Head().Metadata
			a.Metadata.Name = "r1-1"
			m["Agent/r1-1"] = a
		}, map[string]string{"Agent/r1-1": "cannot be imported"}},
		{"a MAC address twice", func(m map[string]resource.Object) {
			m["Server/n2"].(*resource.Server).Spec.MACs = []string{m["Server/n1"].(*resource.Server).Spec.BootMAC}
		}, nil},
	} {
		set := exported(t)
		c.change(set)
		mem := storetest.NewMemory()
		s := open(t, mem)
		dry := imported(t, s, set, ImportOptions{DryRun: true})
		if list, _, err := mem.List(t.Context(), ""); err != nil || len(list) != 0 {
			t.Fatalf("%s: a dry run wrote %d keys, %v", c.name, len(list), err)
		}
		got := imported(t, s, set, ImportOptions{By: "admin"})
		bad := 0
		for key, res := range got {
			if (dry[key].Err == nil) != (res.Err == nil) && c.refused != nil {
				t.Errorf("%s: %s: the dry run says %v, the import %v", c.name, key, dry[key].Err, res.Err)
			}
			why, refused := c.refused[key]
			if res.Err != nil {
				bad++
			}
			if c.refused != nil && (refused != (res.Err != nil) || refused && !strings.Contains(res.Err.Error(), why)) {
				t.Errorf("%s: %s: %v, want refused %t with %q", c.name, key, res.Err, refused, why)
			}
		}
		if clash := strings.Contains(c.name, "two servers") || strings.Contains(c.name, "twice"); clash && bad == 0 {
			t.Errorf("%s: all of it was taken", c.name)
		}
		if c.name != "as it was" {
			continue
		}
		for key, o := range set {
			was := o.Head().Metadata
			is, err := s.Objects.Get(o.Head().Kind, was.Name)
			if err != nil || is.Head().Metadata.UID != was.UID || is.Head().Metadata.Generation != was.Generation || !is.Head().Metadata.CreatedAt.Equal(*was.CreatedAt) {
				t.Errorf("%s: %+v, %v", key, is, err)
			}
		}
	}
}

// Nothing that is there is ever replaced.
func TestImportConflicts(t *testing.T) {
	set := exported(t)
	s := open(t, storetest.NewMemory())
	imported(t, s, set, ImportOptions{})
	for key, res := range imported(t, s, exportedAgain(t, set), ImportOptions{}) {
		if res.Err != nil || res.Outcome != Unchanged {
			t.Errorf("again: %s: %+v", key, res)
		}
	}
	// Another fleet of the same names.
	for key, res := range imported(t, s, exported(t), ImportOptions{}) {
		if want := protocol.CodeConflict; protocol.CodeOf(res.Err) != want && key != "hold" {
			t.Errorf("another fleet: %s: %+v", key, res)
		}
	}
	// Changed here since.
	changed := storetest.Claim("c1", "n1")
	changed.Spec.Image = "registry.example/os:7"
	apply(t, s, changed)
	again := exportedAgain(t, set)
	if res := imported(t, s, map[string]resource.Object{"Claim/c1": again["Claim/c1"]}, ImportOptions{}); protocol.CodeOf(res["Claim/c1"].Err) != protocol.CodeConflict {
		t.Errorf("changed here: %+v", res)
	}
	if c, _ := Get[*resource.Claim](s.Objects, "c1"); c.Spec.Image != "registry.example/os:7" {
		t.Error("the import has replaced it")
	}
}

func exportedAgain(t *testing.T, set map[string]resource.Object) map[string]resource.Object {
	t.Helper()
	out := map[string]resource.Object{}
	for k, o := range set {
		c, err := clone(o)
		if err != nil {
			t.Fatal(err)
		}
		out[k] = c
	}
	return out
}

// An import that is larger than a commit is cut off in each of its parts: whatever is stored then refers
// to nothing that is not, each server that is claimed has its holds, and the same import brings the rest.
func TestImportOfALargeSetAfterACrash(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	const servers = 400
	fleet := func() (objs []resource.Object) {
		add := func(o resource.Object, name string) {
			m := &o.Head().Metadata
			m.Name, m.UID, m.Generation, m.CreatedAt = name, "u-"+name, 1, &now
			objs = append(objs, o)
		}
		for i := range servers {
			name := fmt.Sprintf("n%d", i)
			c := storetest.Claim(name, name)
			c.Status.Server = name
			add(c, name)
			add(storetest.Server(name, "b-"+name, "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255)), name)
			add(storetest.BMC("b-"+name, "r1"), "b-"+name)
			if i < 20 {
				add(storetest.Hold("admin", "k", name), "h-"+name)
			}
		}
		add(storetest.Segment("boot", "r1"), "boot")
		add(storetest.Rack("r1"), "r1")
		return objs
	}
	for part := 1; ; part++ {
		mem := storetest.NewMemory()
		parts := 1
		s, err := Open(t.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text, Crash: func(point string) {
			if point == "hub.import.part" {
				if parts++; parts > part {
					panic(point)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		died := func() (died bool) {
			defer func() { died = recover() != nil }()
			_, err := s.Sets.Import(t.Context(), fleet(), ImportOptions{})
			return err != nil
		}()
		entries, _, err := mem.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if wrong := broken(entries); len(wrong) > 0 {
			t.Fatalf("after part %d: %v", part, wrong)
		}
		s = open(t, mem)
		if claims := len(List[*resource.Claim](s.Objects)); claims > 0 && len(List[*resource.Hold](s.Objects)) != 20 {
			t.Errorf("after part %d there are %d claims and no holds", part, claims)
		}
		before := len(List[*resource.Server](s.Objects))
		res, err := s.Sets.Import(t.Context(), fleet(), ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		created := 0
		for i, r := range res {
			if r.Err != nil {
				t.Fatalf("after part %d: object %d: %v", part, i, r.Err)
			}
			if r.Outcome == Created {
				created++
			}
		}
		if n := len(List[*resource.Server](s.Objects)); n != servers || died == (created == 0) {
			t.Errorf("after part %d there were %d servers, and then %d; %d objects were created", part, before, n, created)
		}
		if !died {
			if part < 4 {
				t.Errorf("it is in %d parts", part)
			}
			return
		}
	}
}
