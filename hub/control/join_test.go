package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// A token is for one rack, serves once and for an hour.
func TestJoinRefuses(t *testing.T) {
	good := wire.NewSigner(key("r1-1")).Public()
	for _, c := range []struct {
		name  string
		with  func(b *bench, token string) api.JoinRequest
		code  protocol.Code
		hint  string
		joins bool // another may still join
	}{
		{"unknown token", func(*bench, string) api.JoinRequest { return api.JoinRequest{Token: "no", Key: good} }, protocol.CodeDenied, "join-token", true},
		{"expired", func(b *bench, token string) api.JoinRequest {
			b.now = b.now.Add(time.Hour + time.Second)
			return api.JoinRequest{Token: token, Key: good}
		}, protocol.CodeDenied, "join-token", true},
		{"short key", func(_ *bench, token string) api.JoinRequest { return api.JoinRequest{Token: token, Key: good[:31]} }, protocol.CodeInvalid, "", true},
		{"token used", func(b *bench, token string) api.JoinRequest {
			q := api.JoinRequest{Token: token, Key: good}
			if _, err := b.control.Members.Join(ctx(b.t), q); err != nil {
				b.t.Fatal(err)
			}
			return q
		}, protocol.CodeDenied, "join-token", false},
		{"rack is served", func(b *bench, token string) api.JoinRequest {
			b.join("r1")
			return api.JoinRequest{Token: token, Key: good}
		}, protocol.CodeConflict, "rackctl rack replace-agent r1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, &movingTag{})
			b.apply(storetest.Site()...)
			token, err := b.control.Members.NewJoinToken(ctx(t), "r1", false)
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.control.Members.Join(ctx(t), c.with(b, token.Token))
			if protocol.CodeOf(err) != c.code || !strings.Contains(protocol.HintOf(err), c.hint) {
				t.Errorf("got %v, hint %q; want %s and %q", err, protocol.HintOf(err), c.code, c.hint)
			}
			if _, err := b.control.Members.NewJoinToken(ctx(t), "r1", false); (err == nil) != c.joins {
				t.Errorf("a new token afterwards: %v", err)
			}
		})
	}
}

// A token of one rack makes no agent of another.
func TestJoinIsForTheTokensRack(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Rack("r1"), storetest.Rack("r2"))
	b.join("r2")
	for rack, want := range map[string]string{"r1": "", "r2": "r2-1"} {
		r, err := store.Get[*resource.Rack](b.store.Objects, rack)
		if err != nil || r.Status.Agent != want {
			t.Errorf("rack %s has agent %q, want %q: %v", rack, r.Status.Agent, want, err)
		}
	}
}

// TestJoinKilled: a hub that dies between the writes of a join leaves a rack that
// can be joined, a token that is spent, and never gives a name out twice.
func TestJoinKilled(t *testing.T) {
	for point, want := range map[string]string{"hub.join.term": "r1-2", "hub.join.agent": "r1-2"} {
		b := newBench(t, &movingTag{})
		b.apply(storetest.Site()...)
		token, err := b.control.Members.NewJoinToken(ctx(t), "r1", false)
		if err != nil {
			t.Fatal(err)
		}
		q := api.JoinRequest{Token: token.Token, Key: wire.NewSigner(key("r1-1")).Public()}
		b.dies(point, func() { _, _ = b.control.Members.Join(ctx(t), q) })
		if _, err := b.control.Members.Join(ctx(t), q); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: the token serves again: %v", point, err)
		}
		if token, err = b.control.Members.NewJoinToken(ctx(t), "r1", false); err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		q.Token = token.Token
		if answer, err := b.control.Members.Join(ctx(t), q); err != nil || answer.Agent != want || answer.Term != 2 {
			t.Errorf("%s: joined as %q with term %d, %v; want %s", point, answer.Agent, answer.Term, err, want)
		}
	}
}

// A rack that is deleted and made again goes on counting: the certificate of its
// first agent is still good for that agent's name.
func TestNamesAreNotGivenTwice(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Rack("r1"))
	first := b.join("r1")
	for _, o := range []struct {
		kind resource.Kind
		name string
	}{{resource.KindAgent, first}, {resource.KindRack, "r1"}} {
		if _, err := b.store.Delete(ctx(t), o.kind, o.name); err != nil {
			t.Fatal(err)
		}
		b.pass()
	}
	b.apply(storetest.Rack("r1"))
	token, err := b.control.Members.NewJoinToken(ctx(t), "r1", false)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.control.Members.Join(ctx(t), api.JoinRequest{Token: token.Token, Key: wire.NewSigner(key("x")).Public()})
	if err != nil || answer.Agent == first {
		t.Errorf("joined as %q, %v", answer.Agent, err)
	}
}

// Of two hosts that join a rack at once one serves it, and the other is told so: nobody's name or term is given
// twice, wherever the other one comes between.
func TestTwoJoinAtOnce(t *testing.T) {
	for name, between := range map[string]string{
		"before the term is taken": "meta.term-r1",
		"after it":                 "hub.join.term",
		"when its agent is stored": "hub.join.agent",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, &movingTag{})
			b.apply(storetest.Rack("r1"))
			var tokens [2]string
			for i := range tokens {
				token, err := b.control.Members.NewJoinToken(ctx(t), "r1", false)
				if err != nil {
					t.Fatal(err)
				}
				tokens[i] = token.Token
			}
			var other api.JoinAnswer
			var otherErr error
			b.passes = func(at string) {
				if at == between {
					b.passes, b.mem.BeforeWrite = nil, nil
					other, otherErr = b.control.Members.Join(ctx(t), api.JoinRequest{Token: tokens[1], Key: wire.NewSigner(key("other")).Public()})
				}
			}
			b.mem.BeforeWrite = func(written string) error {
				if b.passes != nil {
					b.passes(written)
				}
				return nil
			}
			_, err := b.control.Members.Join(ctx(t), api.JoinRequest{Token: tokens[0], Key: wire.NewSigner(key("one")).Public()})
			if otherErr != nil || protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "replace-agent r1") {
				t.Errorf("one: %v; the other: %v", err, otherErr)
			}
			r, err := store.Get[*resource.Rack](b.store.Objects, "r1")
			if err != nil || r.Status.Agent != other.Agent || other.Agent == "" || r.Status.Term != other.Term {
				t.Errorf("%s serves the rack in term %d, not %s of term %d: %v", r.Status.Agent, r.Status.Term, other.Agent, other.Term, err)
			}
		})
	}
}
