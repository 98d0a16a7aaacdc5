package store

import (
	"errors"
	"fmt"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state"
)

// A repository and the contents that it needs are written both or not at all, and it is read through to the store.
func TestRepositories(t *testing.T) {
	mem := storetest.NewMemory()
	a, b := openOn(t, mem), openOn(t, mem)
	c := Content{Digest: aDigest, Size: 3, State: ContentWhole}
	if err := a.Contents.Put(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	r := Repository{Name: "team/os", Manifests: map[string]RepositoryManifest{aDigest: {Type: "t", Names: []string{"n"}}}, Tags: map[string]string{"1": aDigest}}
	if err := a.Repositories.PutKept(t.Context(), &r, c); err != nil || r.Revision == 0 {
		t.Fatal(err)
	}
	if got, err := a.Repositories.Get("team/os"); err != nil || got.Tags["1"] != aDigest || got.Revision != r.Revision {
		t.Errorf("%+v, %v", got, err)
	}
	if needed, err := a.Repositories.Needed(); err != nil || len(needed) != 2 || !needed[aDigest] || !needed["n"] {
		t.Errorf("needed are %v, %v", needed, err)
	}
	if got, err := b.Repositories.Get("team/os"); err != nil || got.Revision != 0 {
		t.Errorf("the other hub has heard of it: %+v, %v", got, err)
	}
	newest, err := b.Repositories.Newest(t.Context(), "team/os")
	if err != nil || newest.Revision != r.Revision {
		t.Fatalf("%+v, %v", newest, err)
	}
	c.State = ContentGoing
	if err := b.Contents.Put(t.Context(), &c); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("who judged before the repository removes a content: %v", err)
	}
	if err := b.Repositories.PutKept(t.Context(), &newest, c); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a content that somebody else has changed: %v", err)
	}
	if Counted(repositoryKey("team/os")) == false {
		t.Error("a checkpoint does not miss it")
	}
	if err := b.Repositories.Remove(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Repositories.Newest(t.Context(), "team/os"); err != nil || got.Revision != 0 || got.Name != "team/os" {
		t.Errorf("%+v, %v", got, err)
	}
	full := Repository{Name: "full", Manifests: map[string]RepositoryManifest{}}
	for i := range 4000 {
		full.Manifests[fmt.Sprintf("sha256:%064x", i)] = RepositoryManifest{}
	}
	if err := a.Repositories.PutKept(t.Context(), &full); !errors.Is(err, ErrRepositoryFull) || protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("what is too large: %v", err)
	}
}

func FuzzRepository(f *testing.F) {
	f.Add([]byte(`{"name":"team/os","manifests":{"sha256:00":{"type":"t","names":["n"]}},"tags":{"1":"sha256:00"}}`))
	f.Add([]byte(`{"name":"other"}`))
	f.Add([]byte(`{"name":"team/os","manifests":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := repositoryOf(state.Entry{Key: repositoryKey("team/os"), Value: value, Revision: 5})
		if err == nil && (r.Name != "team/os" || r.Revision != 5) {
			t.Errorf("%+v", r)
		}
	})
}
