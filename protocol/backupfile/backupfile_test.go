package backupfile

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"rackboot/protocol"
)

func header() Header {
	return Header{Made: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Release: "0.1.0"}
}

func key(t testing.TB) *age.X25519Identity {
	t.Helper()
	k, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// noise does not get smaller.
func noise(n int) []byte {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

type file struct {
	name string
	data []byte
}

func files() []file {
	return []file{
		{"store/rackboot/000001", noise(3 << 20)},
		{"store/rackboot/000002", []byte("rest")},
		{"audit/00000000000000000001.jsonl", nil},
		{"pki/signing.pem", []byte("a key")},
	}
}

// made is a backup for the keys.
func made(t testing.TB, list []file, to ...age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, header(), to)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if err := w.Add(f.name, int64(len(f.data)), bytes.NewReader(f.data)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(Manifest{Epoch: 7, Streams: []Stream{{Name: "rackboot", Last: 9, Messages: 5}}, Without: []string{"the key of secrets"}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAll reads a backup and returns its members.
func readAll(r io.Reader, keys ...age.Identity) (list []file, m Manifest, err error) {
	m, err = Read(r, keys, func(name string, size int64, r io.Reader) error {
		data, err := io.ReadAll(r)
		if err == nil && int64(len(data)) != size {
			err = fmt.Errorf("%s has %d of %d bytes", name, len(data), size)
		}
		list = append(list, file{name, data})
		return err
	})
	return list, m, err
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	identity := key(t)
	lock, err := Lock("sixteen bytes and more")
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := Unlock("sixteen bytes and more")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		to     []age.Recipient
		with   []age.Identity
		sealed Sealed
	}{
		{"plain", nil, nil, Plain},
		{"for a key", []age.Recipient{identity.Recipient()}, []age.Identity{key(t), identity}, SealedAge},
		{"with a passphrase", []age.Recipient{lock}, []age.Identity{unlock}, SealedAge},
	} {
		raw := made(t, files(), row.to...)
		got, m, err := readAll(iotest.HalfReader(bytes.NewReader(raw)), row.with...)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if len(got) != len(files()) || m.Epoch != 7 || m.Sealed != row.sealed || len(m.Members) != len(got) || m.Without[0] != "the key of secrets" {
			t.Errorf("%s: %d members, %+v", row.name, len(got), m.Header)
		}
		for i, f := range files() {
			if got[i].name != f.name || !bytes.Equal(got[i].data, f.data) {
				t.Errorf("%s: member %d is %s with %d bytes", row.name, i, got[i].name, len(got[i].data))
			}
		}
		h, err := Whole(bytes.NewReader(raw))
		if err != nil || h.Sealed != row.sealed || !h.Made.Equal(header().Made) {
			t.Errorf("%s: without a key %+v, %v", row.name, h, err)
		}
		// Who does not read a member sees it verified all the same.
		if _, err := Read(bytes.NewReader(raw), row.with, nil); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		secret := bytes.Contains(raw, []byte("a key"))
		if row.sealed == SealedAge && secret {
			t.Errorf("%s: what is in it can be read", row.name)
		}
	}
}

// framed makes a backup of a content of one's own, with sums that fit.
func framed(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	h := header()
	h.Sealed = Plain
	f, err := newFramer(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// packed is an archive of members, with a manifest that somebody else wrote, if it is not nil.
func packed(t testing.TB, m *Manifest, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	put := func(h tar.Header, data []byte) {
		t.Helper()
		h.Mode, h.Size = 0o600, int64(len(data))
		if h.Typeflag == tar.TypeSymlink {
			h.Size = 0
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, h := range headers {
		put(h, []byte("x"))
	}
	if m != nil {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		put(tar.Header{Typeflag: tar.TypeReg, Name: manifestName}, raw)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return framed(t, out.Bytes())
}

func member(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }

// manifestOf is right for members with the content x.
func manifestOf(names ...string) *Manifest {
	h := header()
	h.Sealed = Plain
	m := &Manifest{Header: h, Members: []Member{}}
	for _, n := range names {
		m.Members = append(m.Members, Member{Name: n, Size: 1, SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"})
	}
	return m
}

func swapFrames(raw []byte) []byte {
	head := bytes.IndexByte(raw, '\n') + 1
	head += bytes.IndexByte(raw[head:], '\n') + 1
	size := 4 + maxFrame + frameSum
	out := bytes.Clone(raw)
	copy(out[head:], raw[head+size:head+2*size])
	copy(out[head+size:], raw[head:head+size])
	return out
}

// Every damage is refused, with what and where.
func TestDamage(t *testing.T) {
	t.Parallel()
	identity := key(t)
	plain, sealed := made(t, files()), made(t, files(), identity.Recipient())
	flip := func(raw []byte, i int) []byte {
		raw = bytes.Clone(raw)
		raw[i] ^= 0x10
		return raw
	}
	zeroes := func(raw []byte, i, n int) []byte {
		raw = bytes.Clone(raw)
		clear(raw[i : i+n])
		return raw
	}
	other := made(t, []file{{"pki/signing.pem", []byte("another")}})
	outsider := manifestOf("a")
	outsider.Release = "other"
	for _, row := range []struct {
		name  string
		raw   []byte
		keys  []age.Identity
		want  Fault
		outer bool // seen without a key, too
	}{
		{"nothing", nil, nil, FaultForeign, true},
		{"a tar file", noise(2048), nil, FaultForeign, true},
		{"a text without lines", bytes.Repeat([]byte("x"), 1<<20), nil, FaultForeign, true},
		{"of a newer release", bytes.Replace(plain, []byte("rackboot-backup 1"), []byte("rackboot-backup 2"), 1), nil, FaultNewer, true},
		{"a header that is no JSON", bytes.Replace(plain, []byte(`{"made"`), []byte(`["made"`), 1), nil, FaultHeader, true},
		{"sealed in an unknown way", bytes.Replace(plain, []byte(`"plain"`), []byte(`"plane"`), 1), nil, FaultHeader, true},
		{"a changed header", bytes.Replace(plain, []byte("2026-11-20"), []byte("2026-11-21"), 1), nil, FaultDamaged, true},
		{"cut in the header", plain[:40], nil, FaultCut, true},
		{"cut in the first frame", plain[:1000], nil, FaultCut, true},
		{"cut before the end", plain[:len(plain)-36], nil, FaultCut, true},
		{"cut by a byte", plain[:len(plain)-1], nil, FaultCut, true},
		{"a flipped byte in a length", flip(plain, bytes.Index(plain, []byte("\"plain\"}\n"))+10), nil, FaultDamaged, true},
		{"a flipped byte in the content", flip(plain, 2<<20), nil, FaultDamaged, true},
		{"a flipped byte in an encrypted content", flip(sealed, 2<<20), []age.Identity{identity}, FaultDamaged, true},
		{"fifty zeroes", zeroes(plain, 1<<20+500, 50), nil, FaultDamaged, true},
		{"a flipped byte in the last sum", flip(plain, len(plain)-1), nil, FaultDamaged, true},
		{"two frames in another order", swapFrames(plain), nil, FaultDamaged, true},
		{"another backup after it", append(bytes.Clone(plain), plain...), nil, FaultAfter, true},
		{"the end of another backup", append(bytes.Clone(plain[:len(plain)-400]), other[len(other)-400:]...), nil, "", true},
		{"no key", sealed, nil, FaultKey, false},
		{"another key", sealed, []age.Identity{key(t)}, FaultKey, false},
		{"content that is not compressed", framed(t, noise(4096)), nil, FaultContent, false},
		{"no content", framed(t, nil), nil, FaultManifest, false},
		{"no manifest", packed(t, nil, member("a")), nil, FaultManifest, false},
		{"a manifest with another sum", packed(t, &Manifest{Header: manifestOf().Header, Members: []Member{{Name: "a", Size: 1, SHA256: "00"}}}, member("a")), nil, FaultManifest, false},
		{"a manifest that has more", packed(t, manifestOf("a", "b"), member("a")), nil, FaultManifest, false},
		{"a manifest that has less", packed(t, manifestOf("a"), member("a"), member("b")), nil, FaultManifest, false},
		{"members in another order", packed(t, manifestOf("b", "a"), member("a"), member("b")), nil, FaultManifest, false},
		{"a manifest of another backup", packed(t, outsider, member("a")), nil, FaultManifest, false},
		{"a member twice", packed(t, manifestOf("a", "a"), member("a"), member("a")), nil, FaultMember, false},
		{"a path that leads elsewhere", packed(t, manifestOf("../a"), member("../a")), nil, FaultMember, false},
		{"an absolute path", packed(t, manifestOf("/etc/passwd"), member("/etc/passwd")), nil, FaultMember, false},
		{"a path with a detour", packed(t, manifestOf("a/../b"), member("a/../b")), nil, FaultMember, false},
		{"a name with a newline", packed(t, manifestOf("a\nb"), member("a\nb")), nil, FaultMember, false},
		{"a link", packed(t, manifestOf("a"), tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc/passwd"}), nil, FaultMember, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readAll(bytes.NewReader(row.raw), row.keys...)
			d, ok := errors.AsType[*Damage](err)
			if !ok || row.want != "" && d.Fault != row.want || d.At < 0 || d.At > int64(len(row.raw)) || protocol.HintOf(err) == "" {
				t.Fatalf("%v, want %s", err, row.want)
			}
			if code := protocol.CodeOf(err); code != protocol.CodeInvalid && (code != protocol.CodeUnsupported || row.want != FaultNewer) {
				t.Errorf("the code is %s", code)
			}
			if _, err := Whole(bytes.NewReader(row.raw)); (err != nil) != row.outer {
				t.Errorf("without a key: %v", err)
			}
		})
	}
}

// A disk or a connection that fails is no damage.
func TestReaderFails(t *testing.T) {
	raw := made(t, files())
	broken := errors.New("the disk failed")
	for _, n := range []int{0, 30, 60, 1000, 2 << 20, len(raw)} {
		_, _, err := readAll(io.MultiReader(bytes.NewReader(raw[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	// What the caller says stays what it is.
	if _, err := Read(bytes.NewReader(raw), nil, func(string, int64, io.Reader) error {
		return protocol.Errorf(protocol.CodeConflict, "take", "not this")
	}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("%v", err)
	}
}

// What cannot be added is refused, and a writer that fails says so.
func TestWriterRefuses(t *testing.T) {
	w, err := NewWriter(io.Discard, header(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "/a", "../a", "a/../b", "a b", manifestName, strings.Repeat("n", maxName+1)} {
		if err := w.Add(name, 0, strings.NewReader("")); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := w.Add("short", 9, strings.NewReader("eight by")); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a file that got shorter: %v", err)
	}
	for _, p := range []string{"short", "sixteen bytes\nand a line"} {
		if _, err := Lock(p); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", p, err)
		}
	}
	if _, err := Recipients([]byte("nobody")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := Identities([]byte("AGE-SECRET-KEY-nobody")); protocol.CodeOf(err) != protocol.CodeInvalid || strings.Contains(err.Error(), "nobody") {
		t.Errorf("%v", err)
	}
}

// FuzzRead: no bytes break the reader, and what it accepts is what a writer wrote.
func FuzzRead(f *testing.F) {
	small := []file{{"pki/a", []byte("x")}, {"audit/b", nil}}
	whole := made(f, small)
	f.Add(whole)
	f.Add(whole[:len(whole)-40])
	f.Add(packed(f, manifestOf("a"), member("a")))
	f.Add([]byte(magic))
	f.Add(framed(f, []byte("content")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, m, err := readAll(bytes.NewReader(raw))
		if err != nil {
			if protocol.HintOf(err) == "" {
				t.Fatalf("no hint: %v", err)
			}
			return
		}
		var names []string
		for _, f := range list {
			names = append(names, f.name)
		}
		var want []string
		for _, e := range m.Members {
			want = append(want, e.Name)
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Fatalf("accepted with other members: %s", d)
		}
		if _, err := Whole(bytes.NewReader(raw)); err != nil {
			t.Fatalf("accepted inside, refused outside: %v", err)
		}
	})
}
