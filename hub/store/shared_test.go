package store

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// labelled is a site whose rack has a label.
func labelled() []resource.Object {
	rack := storetest.Rack("r1")
	rack.Metadata.Labels = map[string]string{"site": "a"}
	return append([]resource.Object{rack}, storetest.Site()[1:]...)
}

// What Get, Copies and Copy return is the caller's; what List and Peek return is
// everybody's, and a change of it is found.
func TestCopiesAreTheCallersOwn(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, labelled()...)
	change := func(r *resource.Rack) {
		r.Status.Agent = "changed"
		r.Metadata.Labels["site"] = "changed"
	}
	got, err := Get[*resource.Rack](s.Objects, "r1")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := Peek[*resource.Rack](s.Objects, "r1")
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []*resource.Rack{got, Copies[*resource.Rack](s.Objects)[0], Copy(s.Objects, shared)} {
		if own.Metadata.Revision != shared.Metadata.Revision {
			t.Errorf("revision %d, want %d", own.Metadata.Revision, shared.Metadata.Revision)
		}
		change(own)
	}
	if keys := s.Objects.Altered(); len(keys) > 0 || shared.Status.Agent != "" || shared.Metadata.Labels["site"] != "a" {
		t.Fatalf("a copy is not the caller's own: %v, %+v", keys, shared)
	}
	list := List[*resource.Rack](s.Objects)
	if list[0] != shared {
		t.Error("List and Peek decode anew")
	}
	list[0] = nil // the slice is the caller's
	if List[*resource.Rack](s.Objects)[0] != shared {
		t.Error("the slice of List is shared")
	}
	change(shared)
	if keys := s.Objects.Altered(); !slices.Equal(keys, []string{"res.racks.r1"}) {
		t.Errorf("altered: %v", keys)
	}
}

// A new revision is a new object: who has the old one keeps it as it was.
func TestAWriteReplacesWhatIsShared(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, labelled()...)
	before, err := Peek[*resource.Rack](s.Objects, "r1")
	if err != nil {
		t.Fatal(err)
	}
	changes := s.Changes("")
	own := Copy(s.Objects, before)
	own.Status.Agent = "a1"
	if err := s.Objects.Put(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	after := List[*resource.Rack](s.Objects)[0]
	if before.Status.Agent != "" || after == before || after.Status.Agent != "a1" || after.Metadata.Revision != own.Metadata.Revision {
		t.Errorf("before %+v, after %+v", before.Status, after.Status)
	}
	if s.Changes("") == changes {
		t.Error("the write is not counted")
	}
	own.Status.Agent = "a2" // what was written stays the caller's
	if after.Status.Agent != "a1" || len(s.Objects.Altered()) > 0 {
		t.Error("what was put is shared with who put it")
	}
	if err := s.Objects.Remove(t.Context(), Copy(s.Objects, List[*resource.Server](s.Objects)[0])); err != nil {
		t.Fatal(err)
	}
	if left := List[*resource.Server](s.Objects); len(left) != 1 || left[0].Metadata.Name != "n2" {
		t.Errorf("after n1 was removed: %v", left)
	}
	_, err = Peek[*resource.Server](s.Objects, "n1")
	wantCode(t, err, protocol.CodeNotFound)
}

// While a set is written, a hold waits only where a server's BMC or system is exchanged, from when it
// was closed: it would come to another machine than the one that was checked to be free.
func TestHoldsDoNotWaitForAnApply(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*resource.Server)
		waits  bool
	}{
		{"another boot MAC", func(v *resource.Server) { v.Spec.BootMAC = "52:54:00:00:00:77" }, false},
		{"labels", func(v *resource.Server) { v.Metadata.Labels = map[string]string{"a": "b"} }, false},
		{"another system", func(v *resource.Server) { v.Spec.SystemURI = "/redfish/v1/Systems/other" }, true},
		{"another BMC", func(v *resource.Server) { v.Spec.BMCRef.Name = "b3" }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem := storetest.NewMemory()
				s := open(t, mem)
				apply(t, s, append(storetest.Site(), storetest.BMC("b3", "r1"))...)
				let, written, held := make(chan struct{}), make(chan error, 1), make(chan error, 1)
				closed := !row.waits
				mem.BeforeWrite = func(key string) error {
					if key == "res.servers.n1" {
						if closed {
							<-let
						}
						closed = true
					}
					return nil
				}
				next := Copy(s.Objects, List[*resource.Server](s.Objects)[0])
				row.change(next)
				go func() {
					_, err := s.Sets.Apply(t.Context(), []resource.Object{next}, ApplyOptions{By: "admin"})
					written <- err
				}()
				synctest.Wait() // it has checked, and writes
				go func() {
					_, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "upgrade", "n1"))
					held <- err
				}()
				synctest.Wait()
				if waits := len(held) == 0; waits != row.waits {
					t.Errorf("the hold waits: %v, want %v", waits, row.waits)
				}
				close(let)
				if err := <-written; err != nil {
					t.Error(err)
				}
				if err := <-held; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Who waits is woken by each change, until it ends to wait.
func TestSubscriptions(t *testing.T) {
	s := open(t, storetest.NewMemory())
	all, stop := s.Subscribe()
	woken := func() bool {
		select {
		case <-all:
			return true
		default:
			return false
		}
	}
	apply(t, s, storetest.Site()...)
	if !woken() {
		t.Error("not after an Apply")
	}
	h, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "upgrade", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	if !woken() {
		t.Error("not after a hold")
	}
	if err := s.Requests.Put(t.Context(), asked("r1", "n1", "admin", "")); err != nil {
		t.Fatal(err)
	}
	if !woken() {
		t.Error("not after a request")
	}
	if err := s.Objects.Remove(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if !woken() {
		t.Error("not after a removal")
	}
	stop()
	if err := s.Requests.Remove(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	if woken() {
		t.Error("after the subscription ended")
	}
}

// What a resource says again to the byte is not kept beside it; what a newer hub wrote, which
// says more, is. Either way what is stored comes back, and a change of what is shared is found.
func TestValuesAreLeftAway(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	objs := append(labelled(), storetest.Claim("c1", "n1"))
	apply(t, s, objs...)
	for _, o := range objs {
		key := keyOf(o.Head().Kind, o.Head().Metadata.Name)
		stored, err := mem.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := s.core.mirror.get(key)
		if e.Value != nil {
			t.Errorf("%s: its value is kept", key)
		}
		if again, err := e.value(); err != nil || string(again) != string(stored.Value) {
			t.Errorf("%s: %v, %s is stored, and %s comes back", key, err, stored.Value, again)
		}
	}
	stored, err := mem.Get(t.Context(), "res.racks.r1")
	if err != nil {
		t.Fatal(err)
	}
	more := strings.TrimSuffix(string(stored.Value), "}") + `,"later":1}`
	if _, err := mem.Update(t.Context(), stored.Key, []byte(more), stored.Revision); err != nil {
		t.Fatal(err)
	}
	s = open(t, mem)
	e, _ := s.core.mirror.get("res.racks.r1")
	if again, err := e.value(); err != nil || string(again) != more {
		t.Errorf("%v, %s comes back of %s", err, again, more)
	}
	if got, err := Get[*resource.Rack](s.Objects, "r1"); err != nil || got.Metadata.Labels["site"] != "a" || got.Metadata.Revision != e.Revision {
		t.Errorf("%+v, %v", got, err)
	}
	e.obj.(*resource.Rack).Status.Agent = "changed"
	c, err := Peek[*resource.Claim](s.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Conditions = append(c.Status.Conditions, resource.ConditionState{Code: "Changed"})
	n, err := Peek[*resource.Server](s.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	n.Status.Phase = "Changed" // which is not stored
	keys := s.Objects.Altered()
	if slices.Sort(keys); !slices.Equal(keys, []string{"res.claims.c1", "res.racks.r1", "res.servers.n1"}) {
		t.Errorf("altered: %v", keys)
	}
}

// What many resources say in the same words is in memory once, and a name where its key is.
func TestWhatIsSaidAlikeIsKeptOnce(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	for _, name := range []string{"c1", "c2"} {
		b := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1", Owner: resource.Owner{UID: "u"}}}
		b.Metadata.Name, b.Metadata.Labels = name, map[string]string{"row": "7"}
		b.Spec.Image = resource.Image{Digest: "sha256:1", Artefacts: []resource.Artefact{{MediaType: "m"}}}
		if err := s.Objects.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*Store{s, open(t, mem)} { // also after a start
		one, err := Peek[*resource.BootConfiguration](s.Objects, "c1")
		other, err2 := Peek[*resource.BootConfiguration](s.Objects, "c2")
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if unsafe.StringData(one.Spec.Image.Digest) != unsafe.StringData(other.Spec.Image.Digest) || &one.Spec.Image.Artefacts[0] != &other.Spec.Image.Artefacts[0] ||
			reflect.ValueOf(one.Metadata.Labels).Pointer() != reflect.ValueOf(other.Metadata.Labels).Pointer() {
			t.Errorf("%+v and %+v share nothing", one, other)
		}
		e, _ := s.core.mirror.get(keyOf(resource.KindBootConfiguration, "c1"))
		if unsafe.StringData(e.Key[len(e.Key)-2:]) != unsafe.StringData(one.Metadata.Name) {
			t.Error("a name is in memory beside its key")
		}
		own, err := Get[*resource.BootConfiguration](s.Objects, "c1")
		if err != nil {
			t.Fatal(err)
		}
		own.Metadata.Labels["row"], own.Spec.Image.Artefacts[0].MediaType = "8", "other"
		if other.Metadata.Labels["row"] != "7" || other.Spec.Image.Artefacts[0].MediaType != "m" {
			t.Error("a copy is shared")
		}
		if keys := s.Objects.Altered(); len(keys) > 0 {
			t.Errorf("altered: %v", keys)
		}
	}
}
