package store

import (
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const aDigest = "sha256:00000000000000000000000000000000000000000000000000000000000000aa"

// A record is compare-and-set; the newest is read through to the store, also where this hub has not heard of it; and
// checkpoints do not miss one.
func TestContents(t *testing.T) {
	mem := storetest.NewMemory()
	a, b := openOn(t, mem), openOn(t, mem)
	c := Content{Digest: aDigest, Size: 3, State: ContentComing, ID: "one", Bucket: "b", Touched: time.Unix(7, 0).UTC()}
	if err := a.Contents.Put(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Contents.Get(aDigest); err != nil || got != c || len(a.Contents.List()) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.Contents.Get(aDigest); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("the other hub has heard of it: %v", err)
	}
	if got, err := b.Contents.Newest(t.Context(), aDigest); err != nil || got != c {
		t.Errorf("the newest is %+v, %v", got, err)
	}
	twice := c
	twice.Revision = 0
	if err := b.Contents.Put(t.Context(), &twice); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("it was made twice: %v", err)
	}
	if Counted("content.aa") {
		t.Error("a checkpoint misses it")
	}
	if err := a.Contents.Remove(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Contents.Newest(t.Context(), aDigest); err != nil || got.Revision != 0 {
		t.Errorf("after it was removed the newest is %+v, %v", got, err)
	}
	bad := Content{Digest: "sha256:..", State: ContentWhole}
	if err := a.Contents.Put(t.Context(), &bad); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("what is no digest: %v", err)
	}
}

// A name and its content's record are written both or not at all: who has changed one of them since refuses both.
func TestNameWithContent(t *testing.T) {
	mem := storetest.NewMemory()
	a, b := openOn(t, mem), openOn(t, mem)
	c := Content{Digest: aDigest, Size: 3, State: ContentWhole}
	if err := a.Contents.Put(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	going, err := b.Contents.Newest(t.Context(), aDigest)
	if err != nil {
		t.Fatal(err)
	}
	name := ISO{ISOFile: resource.ISOFile{File: "a.iso", Digest: aDigest}}
	kept := c
	if err := a.ISOs.PutKept(t.Context(), &name, &kept); err != nil || kept.Revision <= c.Revision || name.Revision == 0 {
		t.Fatalf("%+v, %+v, %v", name, kept, err)
	}
	going.State = ContentGoing
	if err := b.Contents.Put(t.Context(), &going); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("who judged before the name removes it: %v", err)
	}
	if going, err = b.Contents.Newest(t.Context(), aDigest); err != nil {
		t.Fatal(err)
	}
	going.State = ContentGoing
	if err := b.Contents.Put(t.Context(), &going); err != nil {
		t.Fatal(err)
	}
	other := ISO{ISOFile: resource.ISOFile{File: "b.iso", Digest: aDigest}}
	if err := a.ISOs.PutKept(t.Context(), &other, &kept); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a name of what goes: %v", err)
	}
	if _, err := mem.Get(t.Context(), isoKey("b.iso")); err == nil {
		t.Error("the name was written all the same")
	}
}

func FuzzContent(f *testing.F) {
	f.Add([]byte(`{"size":3,"state":"whole","id":"x","bucket":"b","touched":"2026-11-28T10:00:00Z"}`))
	f.Add([]byte(`{"size":-1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, value []byte) {
		c, err := contentOf(state.Entry{Key: contentKey(aDigest), Value: value, Revision: 5})
		if err != nil {
			return
		}
		if c.Digest != aDigest || c.Revision != 5 {
			t.Errorf("%+v", c)
		}
		if o, err := c.write("fuzz"); err != nil || o.Kind != state.OpUpdate || o.Revision != 5 {
			t.Errorf("%+v, %v", o, err)
		}
	})
}
