package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/state/depot"
)

func name(n int) string { return depot.Name(time.Date(2026, 11, 20, 9, 0, n, 0, time.UTC)) }

// content is of more than two parts.
func content() []byte {
	return bytes.Repeat([]byte("forty-two bytes and no more of them, ever. "), 2*testPart/43+1000)
}

// put keeps data, and says what was read back.
func put(ctx context.Context, b *Bucket, name string, data []byte) (back []byte, err error) {
	err = b.Put(ctx, name, func(w io.Writer) error {
		for part := range bytes.Lines(data) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}, func(r io.Reader) error {
		var err error
		back, err = io.ReadAll(r)
		if err == nil && !bytes.Equal(back, data) {
			err = protocol.Errorf(protocol.CodeInvalid, "check", "it is not what was written")
		}
		return err
	})
	return back, err
}

func TestBucket(t *testing.T) {
	c := newCranky(t)
	b, ctx := c.bucket(nil), t.Context()
	if !strings.HasPrefix(b.String(), "s3://copies/hubs/one at 127.0.0.1") {
		t.Errorf("%s", b)
	}
	for n := range 5 {
		data := []byte("small")
		if n == 1 {
			data = content()
		}
		if _, err := put(ctx, b, name(n), data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := put(ctx, b, name(1), nil); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("twice: %v", err)
	}
	c.with(func() { c.objects["hubs/one/notes.txt"], c.objects["hubs/one.backup"] = nil, nil })
	list, err := b.List(ctx)
	if err != nil || len(list) != 5 || list[1].Size != int64(len(content())) || list[4].Name != name(4) {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := b.Open(ctx, name(9)); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	gone, err := depot.Prune(ctx, b, 2)
	if d := cmp.Diff([]string{name(0), name(1), name(2)}, gone); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	whole, begun := c.keys()
	if d := cmp.Diff([]string{"hubs/one.backup", "hubs/one/notes.txt", "hubs/one/" + name(3), "hubs/one/" + name(4)}, whole); d != "" || len(begun) > 0 {
		t.Errorf("%s, begun %q", d, begun)
	}
	if err := b.Remove(ctx, name(0)); err != nil {
		t.Errorf("what is gone already: %v", err)
	}
}

// A store that is busy, and one that cuts an answer, are asked again.
func TestBusy(t *testing.T) {
	c := newCranky(t)
	b := c.bucket(nil)
	c.with(func() { c.busy = 2 })
	if _, err := put(t.Context(), b, name(1), []byte("small")); err != nil {
		t.Errorf("busy twice: %v", err)
	}
	failed := 0
	c.with(func() {
		c.part = func(n int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if n == 2 && failed < 2 {
				failed++
				problem(w, http.StatusServiceUnavailable, "SlowDown")
				return true
			}
			return false
		}
	})
	if _, err := put(t.Context(), b, name(2), content()); err != nil || failed != 2 {
		t.Errorf("a part is refused %d times: %v", failed, err)
	}
}

// Whatever fails, nothing is left of the object, begun or whole, and the error has a class and a hint.
func TestPutFails(t *testing.T) {
	broken := errors.New("the source failed")
	for _, row := range []struct {
		name   string
		change func(c *cranky)
		config func(*Config)
		write  func(io.Writer) error
		want   protocol.Code
		is     error
	}{
		{"a store that refuses the account", func(c *cranky) { c.deny = "AccessDenied" }, nil, nil, protocol.CodeDenied, nil},
		{"another secret", func(c *cranky) { c.secret = "another" }, nil, nil, protocol.CodeDenied, nil},
		{"another region", nil, func(c *Config) { c.Region = "elsewhere" }, nil, protocol.CodeDenied, nil},
		{"no bucket", nil, func(c *Config) { c.Bucket = "nowhere" }, nil, protocol.CodeNotFound, nil},
		{"a clock that is wrong", func(c *cranky) { c.deny = "RequestTimeTooSkewed" }, nil, nil, protocol.CodeDenied, nil},
		{"another authority", nil, func(c *Config) { c.CAFile = "" }, nil, protocol.CodeUnavailable, nil},
		{"a part that is refused", func(c *cranky) {
			c.part = func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				if n == 2 {
					problem(w, http.StatusForbidden, "QuotaExceeded")
				}
				return n == 2
			}
		}, nil, nil, protocol.CodeUnavailable, nil},
		{"a part that is kept cut", func(c *cranky) { c.spoil = func(b []byte) []byte { return b[:len(b)-100] } }, nil, nil, protocol.CodeInvalid, nil},
		{"a byte that is kept flipped", func(c *cranky) {
			c.spoil = func(b []byte) []byte {
				b = bytes.Clone(b)
				b[testPart+5] ^= 1
				return b
			}
		}, nil, nil, protocol.CodeInvalid, nil},
		{"nothing that is kept", func(c *cranky) { c.spoil = func([]byte) []byte { return nil } }, nil, nil, protocol.CodeInvalid, nil},
		{"an object that is kept, and denied", func(c *cranky) { c.mute = true }, nil, nil, protocol.CodeUnavailable, nil},
		{"a source that fails at once", nil, nil, func(io.Writer) error { return broken }, protocol.CodeUnavailable, broken},
		{"a source that ends early", nil, nil, func(w io.Writer) error {
			_, err := w.Write(content()[:testPart+7])
			return errors.Join(err, io.ErrUnexpectedEOF)
		}, protocol.CodeUnavailable, io.ErrUnexpectedEOF},
		{"a source whose error is that of an end", nil, nil, func(w io.Writer) error {
			_, _ = w.Write([]byte("begun"))
			return io.ErrUnexpectedEOF
		}, protocol.CodeUnavailable, io.ErrUnexpectedEOF},
		{"a source that is refused", nil, nil, func(io.Writer) error {
			return protocol.Errorf(protocol.CodeConflict, "make", "no").WithHint("why")
		}, protocol.CodeConflict, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCranky(t)
			if row.change != nil {
				c.with(func() { row.change(c) })
			}
			b := c.bucket(row.config)
			var err error
			if row.write == nil {
				_, err = put(t.Context(), b, name(1), content())
			} else {
				err = b.Put(t.Context(), name(1), row.write, func(io.Reader) error { t.Error("it is read back"); return nil })
			}
			if protocol.CodeOf(err) != row.want || row.want != protocol.CodeInvalid && protocol.HintOf(err) == "" || row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("%v, want %s", err, row.want)
			}
			if strings.Contains(err.Error(), testSecret) {
				t.Errorf("the secret is told: %v", err)
			}
			if whole, begun := c.keys(); len(whole)+len(begun) > 0 {
				t.Errorf("left: %q, %q", whole, begun)
			}
		})
	}
}

// A caller that goes away leaves nothing; what a crash left is swept, and nothing else.
func TestSweep(t *testing.T) {
	c := newCranky(t)
	b := c.bucket(nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Put(ctx, name(1), func(w io.Writer) error {
		_, err := w.Write(content()[:testPart+1])
		cancel()
		return errors.Join(err, ctx.Err())
	}, func(io.Reader) error { return nil })
	if protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
	if whole, begun := c.keys(); len(whole)+len(begun) > 0 {
		t.Errorf("left: %q, %q", whole, begun)
	}
	c.with(func() {
		for i, key := range []string{"hubs/one/" + name(1), "hubs/two/" + name(1), "hubs/one/other", "hubs/one/deep/" + name(1)} {
			c.uploads[string(rune('a'+i))] = &upload{key, map[int][]byte{}}
		}
	})
	if err := b.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, begun := c.keys(); len(begun) != 3 {
		t.Errorf("left: %q", begun)
	}
}

// A connection that is cut while an object is read is no end of it.
func TestCutGet(t *testing.T) {
	c := newCranky(t)
	b := c.bucket(nil)
	if _, err := put(t.Context(), b, name(1), content()); err != nil {
		t.Fatal(err)
	}
	c.with(func() { c.cutGets = 100 })
	r, err := b.Open(t.Context(), name(1))
	var got []byte
	if err == nil {
		got, err = io.ReadAll(r)
		_ = r.Close()
	}
	if protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestConfig(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	for name, c := range map[string]Config{
		"no bucket": {Endpoint: "https://s3.example"}, "no URL": {Endpoint: "s3.example", Bucket: "b"}, "in the clear": {Endpoint: "http://s3.example", Bucket: "b"},
		"no account": {Endpoint: "https://s3.example", Bucket: "b"}, "no such file": {Endpoint: "https://s3.example", Bucket: "b", CredentialsFile: "/nowhere"},
		"no CA": {Endpoint: "https://s3.example", Bucket: "b", CAFile: "/nowhere"}, "a prefix that leads elsewhere": {Endpoint: "https://s3.example", Bucket: "b", Prefix: "../x"},
	} {
		if _, err := New(c); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for s, want := range map[string][2]string{"s3://b": {"b", ""}, "s3://b/p/q/": {"b", "p/q"}, "s3://": {}, "/folder": {}} {
		bucket, prefix, ok := ParseURL(s)
		if ok != (want[0] != "") || ok && (bucket != want[0] || prefix != want[1]) {
			t.Errorf("%s: %q %q %t", s, bucket, prefix, ok)
		}
	}
}
