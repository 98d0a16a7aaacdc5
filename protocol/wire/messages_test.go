package wire

import (
	"crypto/ed25519"
	"math"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// testKey is the n-th fixed key of the tests.
func testKey(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i) ^ n
	}
	return ed25519.NewKeyFromSeed(seed)
}

// sample is one kind of message with how it travels.
type sample struct {
	name  string
	topic string
	empty func() any
	draw  func(*rapid.T) any // a pointer
}

func drawn[T any](name, topic string) sample {
	return sample{name, topic, func() any { return new(T) }, func(t *rapid.T) any {
		v := rapid.MakeCustom[T](generators()).Draw(t, name)
		return &v
	}}
}

func messages() []sample {
	return []sample{
		drawn[message.HoldDoc]("HoldDoc", message.TopicDown("rack-1", message.LeafHold)),
		drawn[message.RackDoc]("RackDoc", message.TopicDown("rack-1", message.LeafRack+"/0")),
		drawn[message.Sync]("Sync", message.TopicDown("rack-1", message.LeafSync)),
		drawn[message.Hello]("Hello", message.TopicUp("rack-1", message.LeafHello)),
		drawn[message.Applied]("Applied", message.TopicUp("rack-1", message.LeafApplied)),
		drawn[message.Report]("Report", message.TopicUp("rack-1", message.LeafReport)),
		drawn[message.EventBatch]("EventBatch", message.TopicUp("rack-1", message.LeafEvent)),
		drawn[message.Announce]("Announce", message.TopicAnnounce),
		drawn[message.Grant]("Grant", FactGrant),
		drawn[resource.Provisioned]("Provisioned", FactProvisioned),
		drawn[resource.Receipt]("Receipt", FactReceipt),
		drawn[message.EndOfTerm]("EndOfTerm", FactEndOfTerm),
		drawn[message.HubHead]("HubHead", FactHubHead),
		drawn[message.KeyStatement]("KeyStatement", FactKey),
		drawn[message.Renewal]("Renewal", FactRenewal),
		drawn[message.Beat]("Beat", FactBeat),
		drawn[message.LocalHolds]("LocalHolds", FactLocalHolds),
	}
}

// generators draw what reflection alone cannot: times with nanoseconds in odd
// zones, and addresses.
func generators() rapid.MakeConfig {
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "zero") {
			return time.Time{}
		}
		sec := rapid.Int64Range(0, 4_000_000_000).Draw(t, "sec")
		nsec := rapid.Int64Range(0, 999_999_999).Draw(t, "nsec")
		zone := time.FixedZone("test", rapid.IntRange(-12, 14).Draw(t, "zone")*3600)
		return time.Unix(sec, nsec).In(zone)
	})
	addr := rapid.Custom(func(t *rapid.T) netip.Addr {
		switch rapid.IntRange(0, 2).Draw(t, "family") {
		case 0:
			return netip.Addr{}
		case 1:
			return netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4")))
		}
		return netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6")))
	})
	prefix := rapid.Custom(func(t *rapid.T) netip.Prefix {
		a := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "net")))
		return netip.PrefixFrom(a, rapid.IntRange(0, 32).Draw(t, "bits"))
	})
	c := rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[time.Time]():    instant.AsAny(),
		reflect.TypeFor[*time.Time]():   rapid.Ptr(instant, true).AsAny(),
		reflect.TypeFor[netip.Addr]():   addr.AsAny(),
		reflect.TypeFor[netip.Prefix](): prefix.AsAny(),
		reflect.TypeFor[[]byte]():       rapid.SliceOfN(rapid.Byte(), 0, 64).AsAny(),
	}}
	// Two servers of a kind are enough: whole lists make the test slow.
	c.Types[reflect.TypeFor[[]resource.ServerReport]()] = rapid.SliceOfN(rapid.MakeCustom[resource.ServerReport](c), 0, 2).AsAny()
	c.Types[reflect.TypeFor[[]message.ServerIntent]()] = rapid.SliceOfN(rapid.MakeCustom[message.ServerIntent](c), 0, 2).AsAny()
	return c
}

// equal treats times by instant and nil as empty: neither difference has a
// meaning in any message.
func equal() cmp.Options {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(protocol.Observation{}, "ManagerTime"), // it is in no message
		cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	}
}

func TestEveryMessageRoundTrips(t *testing.T) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, s, v, m) })
		})
	}
}

func roundTrip(t *rapid.T, s *Signer, v *Verifier, m sample) {
	in := m.draw(t)
	data, err := Seal(s, m.topic, in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Seal(s, m.topic, in)
	if err != nil || string(again) != string(data) {
		t.Fatalf("sealing twice gave other bytes (%v)", err)
	}
	out := m.empty()
	if err := Open(v, m.topic, data, out); err != nil {
		t.Fatal(err)
	}
	// A zero *time.Time is written as null like the zero time.
	if diff := cmp.Diff(in, out, append(equal(), cmp.Comparer(sameMoment))); diff != "" {
		t.Fatal(diff)
	}
}

func sameMoment(a, b *time.Time) bool {
	zero := func(p *time.Time) bool { return p == nil || p.IsZero() }
	return (zero(a) && zero(b)) || (!zero(a) && !zero(b) && a.Equal(*b))
}

func TestValuesKeepTheirPrecision(t *testing.T) {
	type values struct {
		Time     time.Time         `json:"time"`
		Duration time.Duration     `json:"duration"`
		Text     protocol.Duration `json:"text"`
		Max      uint64            `json:"max"`
		Min      int64             `json:"min"`
		Addr     netip.Addr        `json:"addr"`
		Prefix   netip.Prefix      `json:"prefix"`
		Raw      []byte            `json:"raw"`
	}
	in := values{
		Time:     time.Date(2026, 11, 20, 10, 0, 0, 123_456_789, time.UTC),
		Duration: 3*time.Hour + time.Nanosecond,
		Text:     protocol.Duration(90*time.Minute + time.Nanosecond),
		Max:      math.MaxUint64,
		Min:      math.MinInt64,
		Addr:     netip.MustParseAddr("fe80::1%eth0"),
		Prefix:   netip.MustParsePrefix("10.7.0.0/24"),
		Raw:      []byte{0, 0xff},
	}
	s := NewSigner(testKey(0))
	data, err := Seal(s, "t", in)
	if err != nil {
		t.Fatal(err)
	}
	var out values
	if err := Open(NewVerifier(s.Public()), "t", data, &out); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("in  %+v\nout %+v", in, out)
	}
}
