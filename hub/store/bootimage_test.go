package store

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func bootImage(name, version, kernel string) *resource.BootImage {
	file := func(kind resource.ArtefactKind, sum string) resource.BootImageFile {
		return resource.BootImageFile{Kind: kind, URL: "https://mirror.example/" + string(kind), SHA256: strings.Repeat(sum, 64)}
	}
	b := &resource.BootImage{Spec: resource.BootImageSpec{
		Catalogue: "os", Version: version,
		Architectures: map[string]resource.BootImageArch{"amd64": {Files: []resource.BootImageFile{file(resource.ArtefactKernel, kernel), file(resource.ArtefactInitramfs, "f")}}},
	}}
	b.Metadata.Name = name
	b.Default()
	return b
}

// Facts of boot images, section 5, rows 5 and 6: an entry never changes, and a catalogue
// has each version once.
func TestBootImageAdmission(t *testing.T) {
	labelled := bootImage("os-1", "1.0", "a")
	labelled.Metadata.Labels = map[string]string{"channel": "stable"}
	other := bootImage("os-3", "1.00", "a")
	other.Spec.Catalogue = "other"
	for _, row := range []struct {
		name    string
		apply   []resource.Object
		outcome Outcome
		refused string
	}{
		{"the same again", []resource.Object{bootImage("os-1", "1.0", "a")}, Unchanged, ""},
		{"a label", []resource.Object{labelled}, Configured, ""},
		{"another kernel", []resource.Object{bootImage("os-1", "1.0", "b")}, "", "an entry never changes; give the new content a version of its own"},
		{"another version of the name", []resource.Object{bootImage("os-1", "1.1", "a")}, "", "an entry never changes"},
		{"the version under another name", []resource.Object{bootImage("os-2", "1.0", "b")}, "", `is the version of BootImage "os-1"`},
		{"one that is equal to it", []resource.Object{bootImage("os-2", "1.00", "b")}, "", `is the version of BootImage "os-1"`},
		{"in another catalogue", []resource.Object{other}, Created, ""},
		{"a newer one", []resource.Object{bootImage("os-2", "1.1", "b")}, Created, ""},
		{"twice in the set", []resource.Object{bootImage("os-2", "2", "b"), bootImage("os-3", "2", "c")}, "", `is the version of BootImage "os-2"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, storetest.NewMemory())
			apply(t, s, bootImage("os-1", "1.0", "a"))
			res, err := s.Sets.Apply(t.Context(), row.apply, ApplyOptions{By: "ann"})
			switch {
			case row.refused == "" && (err != nil || res[0].Outcome != row.outcome):
				t.Errorf("%+v, %v", res, err)
			case row.refused != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.refused)):
				t.Errorf("got %v, want %q", err, row.refused)
			}
		})
	}
}

// What was proved is stored, and stays over an apply; what is only shown is not stored.
func TestBootImageStatus(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, bootImage("os-1", "1.0", "a"))
	b, err := Get[*resource.BootImage](s.Objects, "os-1")
	if err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("a", 64)
	proved := map[string]resource.BootImageVerified{digest: {At: time.Unix(1, 0).UTC(), Size: 7, Digest: digest}}
	if err := s.BootImages.PutVerified(t.Context(), "os-1", "another", proved); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of another entry of the name: %v", err)
	}
	b.Status.Stamp = &resource.BootImageStamp{Version: "1.0"}
	b.Status.Conditions = []resource.ConditionState{{Code: resource.CondImageUnverified}}
	if err := s.Objects.Put(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.BootImages.PutVerified(t.Context(), "os-1", b.Metadata.UID, proved); err != nil {
		t.Fatal(err)
	}
	again := bootImage("os-1", "1.0", "a")
	again.Metadata.Labels = map[string]string{"a": "b"}
	again.Status.Verified = map[string]resource.BootImageVerified{"sha256:" + strings.Repeat("f", 64): {Size: 1}}
	apply(t, s, again)
	got, err := Get[*resource.BootImage](s.Objects, "os-1")
	if err != nil || got.Status.Stamp == nil || len(got.Status.Verified) != 1 || got.Status.Verified[digest].Size != 7 || got.Status.Conditions != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if files := s.BootImages.Files(); !files[digest] || !files["sha256:"+strings.Repeat("f", 64)] || len(files) != 2 {
		t.Errorf("%v", files)
	}
}

// An entry stays while anything that boots names it. One that a group may return to can be
// taken out of the catalogue, and its files stay.
func TestBootImageDeletion(t *testing.T) {
	image := resource.Image{Reference: "bootimage/os-1", BootImage: "os-1", Digest: "sha256:" + strings.Repeat("1", 64), Architecture: "amd64", Source: resource.ImageFromHub, Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:" + strings.Repeat("2", 64)}}}
	revision := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "g", Number: 1, BootImage: "os-1", Images: map[string]resource.Image{"amd64": image}}}
	revision.Metadata.Name = "g-1"
	config := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n1", Owner: resource.Owner{Name: "c", UID: "u"}, BootSpec: resource.BootSpec{Image: image}}}
	config.Metadata.Name = "c"
	claim := storetest.Claim("c", "n1")
	claim.Spec.Image = "bootimage/os-1"
	for who, obj := range map[string]resource.Object{"GroupRevision/g-1": revision, "BootConfiguration/c": config, "Claim/c": claim} {
		t.Run(who, func(t *testing.T) {
			s := open(t, storetest.NewMemory())
			apply(t, s, append(storetest.Site(), bootImage("os-1", "1.0", "a"))...)
			obj, err := clone(obj)
			if err == nil {
				err = s.Objects.Put(t.Context(), obj)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Delete(t.Context(), resource.KindBootImage, "os-1")
			if who == "GroupRevision/g-1" {
				if err != nil || !s.BootImages.Files()[image.Artefacts[0].Digest] {
					t.Errorf("%v, files %v", err, s.BootImages.Files())
				}
				return
			}
			if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), who) {
				t.Errorf("deleted: %v", err)
			}
			if who != "Claim/c" && !s.BootImages.Files()[image.Artefacts[0].Digest] {
				t.Error("its files may be removed")
			}
			if err := s.Objects.Remove(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Delete(t.Context(), resource.KindBootImage, "os-1"); err != nil {
				t.Error(err)
			}
		})
	}
}

// An entry that a group boots by its current revision is kept by [BootImages.Unfollowed], which names the group.
// One of an older revision, or of a group of before with the same name, is not.
func TestBootImageUnfollowed(t *testing.T) {
	s := open(t, storetest.NewMemory())
	group := func(revision int, uid string) {
		t.Helper()
		g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{Selector: resource.Selector{MatchLabels: map[string]string{"a": "b"}}, Catalogue: "os"}}
		g.Metadata.Name = "g"
		if revision == 0 {
			apply(t, s, bootImage("os-1", "1.0", "a"), bootImage("os-2", "2.0", "b"), g)
		}
		own, err := Get[*resource.ServerGroup](s.Objects, "g")
		if err != nil {
			t.Fatal(err)
		}
		own.Status.Revision = revision
		if uid == "" {
			uid = own.Metadata.UID
		}
		if err := s.Objects.Put(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		if revision == 0 {
			return
		}
		r := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "g", GroupUID: uid, Number: revision, BootImage: "os-" + strconv.Itoa(revision)}}
		r.Metadata.Name = resource.GroupRevisionName("g", revision)
		if err := s.Objects.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	group(0, "")
	group(1, "")
	_, err := s.Delete(t.Context(), resource.KindBootImage, "os-1", s.BootImages.Unfollowed())
	if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "ServerGroup/g (revision 1)") || !strings.Contains(protocol.HintOf(err), "--force") {
		t.Errorf("deleted: %v, %s", err, protocol.HintOf(err))
	}
	group(2, "another")
	for _, name := range []string{"os-1", "os-2"} {
		if _, err := s.Delete(t.Context(), resource.KindBootImage, name, s.BootImages.Unfollowed()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A claim names an entry that is there.
func TestClaimNamesBootImage(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	claim := storetest.Claim("c", "n1")
	claim.Spec.Image = "bootimage/os-1"
	_, err := s.Sets.Apply(t.Context(), []resource.Object{claim}, ApplyOptions{})
	if _, is := errors.AsType[ApplyErrors](err); !is || !strings.Contains(err.Error(), `spec.image: BootImage "os-1" does not exist`) {
		t.Errorf("dangling: %v", err)
	}
	apply(t, s, claim, bootImage("os-1", "1.0", "a"))
}
