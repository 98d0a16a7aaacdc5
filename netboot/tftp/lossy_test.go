package tftp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
)

// weather is how a network treats packets, in percent.
type weather struct {
	lost, doubled, late int
	seed                uint64
}

// link makes a network that loses, doubles and reorders packets.
func (w weather) link() func(from, to netip.AddrPort, b []byte) []time.Duration {
	r := rand.New(rand.NewPCG(w.seed, 0))
	delay := func() time.Duration {
		if r.IntN(100) < w.late {
			return time.Duration(1 + r.IntN(int(2*time.Second))) // beyond the timer
		}
		return time.Duration(1 + r.IntN(int(time.Millisecond)))
	}
	return func(netip.AddrPort, netip.AddrPort, []byte) []time.Duration {
		if r.IntN(100) < w.lost {
			return nil
		}
		if r.IntN(100) < w.doubled {
			return []time.Duration{delay(), delay()}
		}
		return []time.Duration{delay()}
	}
}

// TestLossyNetwork: over a network that loses, doubles and reorders, a client gets
// the very file or an error. Evidence is of whole files only, and one that the
// client has not got is never told. Everything ends.
func TestLossyNetwork(t *testing.T) {
	whole, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		wt := weather{
			lost: rapid.SampledFrom([]int{0, 1, 5, 20, 50}).Draw(rt, "lost"), doubled: rapid.IntRange(0, 40).Draw(rt, "doubled"),
			late: rapid.IntRange(0, 20).Draw(rt, "late"), seed: rapid.Uint64().Draw(rt, "seed"),
		}
		size := rapid.IntRange(0, 60_000).Draw(rt, "size")
		var options []option
		if rapid.Bool().Draw(rt, "blksize?") {
			options = append(options, option{"blksize", strconv.Itoa(rapid.IntRange(100, 1468).Draw(rt, "blksize"))})
		}
		if rapid.Bool().Draw(rt, "windowsize?") {
			options = append(options, option{"windowsize", strconv.Itoa(rapid.IntRange(1, 70).Draw(rt, "windowsize"))})
		}
		if rapid.Bool().Draw(rt, "tsize?") {
			options = append(options, option{"tsize", "0"})
		}
		var problem string
		synctest.Test(t, func(t *testing.T) {
			w := start(t, func(c *Config) { c.Limits.Deadline = 10 * time.Minute })
			w.files.files["f"] = pattern(size)
			w.net.link = wt.link()
			got, err := w.client(clientAddr(), options...).fetch("f")
			w.settled(t)
			events := len(w.evidence.all())
			switch {
			case err == nil && !bytes.Equal(got, w.files.files["f"]):
				problem = fmt.Sprintf("a wrong file of %d bytes, want %d", len(got), size)
			case err == nil:
				whole++
			case !errors.Is(err, errSilence) && !errors.Is(err, gotError(0)):
				problem = fmt.Sprintf("the client ended by %v", err)
			default:
				failed++
				if events != 0 {
					problem = "evidence of a file that the client has not got"
				}
			}
			if err != nil && wt.lost == 0 && wt.late == 0 {
				problem = fmt.Sprintf("nothing is lost, and %v", err)
			}
			w.stop()
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
	t.Logf("%d files, %d failures", whole, failed)
	if whole == 0 {
		t.Error("no file ever arrived")
	}
}

// TestNoStorm: one packet that the network doubles, whatever it is and whenever
// the copy comes, does not double what follows (RFC 1123 section 4.2.3.1).
func TestNoStorm(t *testing.T) {
	const trip = 2 * time.Millisecond
	for _, window := range []int{1, 2, 4, 16} {
		for which := 2; which < 20; which++ { // the request itself has its own row
			for _, late := range []time.Duration{0, trip, 3 * trip} {
				again, took := oneFile(t, window, func(n int, _ []byte) []time.Duration {
					if n == which {
						return []time.Duration{trip / 2, trip/2 + late}
					}
					return []time.Duration{trip / 2}
				})
				if again > window || window == 1 && again > 0 {
					t.Errorf("window %d, packet %d doubled after %s: %d blocks were sent again", window, which, late, again)
				}
				if clean := time.Duration(101/window+4) * trip; took > clean+slack+2*trip {
					t.Errorf("window %d, packet %d doubled after %s: it took %s, %s without", window, which, late, took, clean)
				}
			}
		}
	}
}

// TestOneLoss: one block that is lost costs a round trip within a window; three
// and a little where it is the first; and the timer where nothing came behind it
// that the client could speak of.
func TestOneLoss(t *testing.T) {
	const trip, window = 2 * time.Millisecond, 4
	clean := 27 * trip // OACK and 26 windows
	for lost := 1; lost <= 101; lost++ {
		dropped := false
		again, took := oneFile(t, window, func(_ int, b []byte) []time.Duration {
			if n, _ := number(b); opcode(b) == opData && int(n) == lost && !dropped {
				dropped = true
				return nil
			}
			return []time.Duration{trip / 2}
		})
		limit := clean + 2*trip
		switch {
		case lost%window == 0 || lost == 101:
			limit += time.Second
		case lost%window == 1:
			limit += slack + 2*trip
		}
		if took > limit || again > window {
			t.Errorf("block %d lost: %s, at most %s; %d blocks were sent again", lost, took, limit, again)
		}
	}
}

// TestSmallReceiver: a client that can take only the first blocks of each window
// that it asked for, and a few of the rest, gets its file without waiting for the
// timer each time.
func TestSmallReceiver(t *testing.T) {
	const trip = 2 * time.Millisecond
	var last time.Time
	inBurst := 0
	_, took := oneFile(t, 64, func(_ int, b []byte) []time.Duration {
		if opcode(b) == opData {
			if time.Since(last) > 0 {
				last, inBurst = time.Now(), 0
			}
			if inBurst++; inBurst > 10 && inBurst%8 != 0 {
				return nil
			}
		}
		return []time.Duration{trip / 2}
	})
	if took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// oneFile fetches 101 blocks over a network. It returns how many were sent again,
// and what it took.
func oneFile(t *testing.T, window int, link func(n int, b []byte) []time.Duration) (again int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		n := 0
		w.net.link = func(_, _ netip.AddrPort, b []byte) []time.Duration {
			n++
			return link(n, b)
		}
		begin := time.Now()
		got, err := w.client(clientAddr(), option{"blksize", "1000"}, option{"windowsize", strconv.Itoa(window)}).fetch("boot.efi")
		took = time.Since(begin)
		if err != nil || !bytes.Equal(got, w.files.files["boot.efi"]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		again = w.count(t, "rackboot_tftp_retransmits_total", "") // before what nobody waits for
		w.settled(t)
		w.stop()
	})
	return again, took
}

// TestFlood: random requests from many addresses hold no more than the limits say.
func TestFlood(t *testing.T) {
	for _, limits := range []Limits{
		{Transfers: 50, PerClient: 2, Buffered: 64 << 20},
		{Transfers: 50, PerClient: 2, Buffered: 1 << 20},
	} {
		synctest.Test(t, func(t *testing.T) { flood(t, limits) })
	}
}

func flood(t *testing.T, limits Limits) {
	const packets = 20_000
	w := start(t, func(c *Config) { c.Limits, c.Logger = limits, nil })
	w.files.files["f"] = pattern(1 << 20)
	r := rand.New(rand.NewPCG(1, 2))
	most, held := 0, 0
	to := netip.AddrPortFrom(serverAddr(), Port)
	for i := range packets {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], 10<<24|r.Uint32N(1<<18))
		name := strconv.Itoa(r.Int())
		if r.IntN(2) == 0 {
			name = "b/" + testToken + "/f"
		}
		w.net.send(netip.AddrPortFrom(netip.AddrFrom4(b), uint16(1+r.IntN(65535))), to,
			requestPacket(name, modeOctet, option{"blksize", strconv.Itoa(r.IntN(3000))}, option{"windowsize", strconv.Itoa(r.IntN(100))}, option{"timeout", "255"}))
		if i%500 == 0 {
			synctest.Wait()
			n, bytes := w.server.book.inFlight()
			most, held = max(most, n), max(held, bytes)
			time.Sleep(100 * time.Millisecond)
		}
	}
	synctest.Wait()
	if most > limits.Transfers || held > limits.Buffered || most < limits.Transfers && held < limits.Buffered/2 {
		t.Errorf("at most %d transfers and %d bytes", most, held)
	}
	if n := len(w.server.gates[0].buckets.now) + len(w.server.gates[0].buckets.old); n > 2*maxBuckets {
		t.Errorf("%d buckets", n)
	}
	// Thirty seconds later nothing of it is left, and a client of ours is served.
	time.Sleep(31 * time.Second)
	if n, bytes := w.server.book.inFlight(); n != 0 || bytes != 0 {
		t.Errorf("%d transfers and %d bytes are left", n, bytes)
	}
	if _, err := w.client(clientAddr(), edk2Options()...).fetch("boot.efi"); err != nil {
		t.Error(err)
	}
	w.settled(t)
	if events := w.evidence.all(); len(events) != 1 || events[0].Kind != protocol.EvidenceFetched {
		t.Errorf("events %+v", events)
	}
	w.stop()
}
