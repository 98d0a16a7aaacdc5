//go:build host

package alone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/netip"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

const (
	// lingers is how long an attack goes on while the installer runs, and after the agent
	// has said why the server does not boot.
	lingers = 1500 * time.Millisecond
	// siegeLimit is many times of what a boot takes here.
	siegeLimit = 30 * time.Second
	// post is how long the server's firmware starts; slowPost where an intruder comes first.
	post     = 50 * time.Millisecond
	slowPost = 5 * time.Second
)

// TestHostileSegment: an intruder hears everything on the boot segment, and attacks from
// before the claim until the end. Where user data goes through the BMC, it has none of it; nothing
// is recorded above the class of its evidence; and the server boots what the hub said, or the
// agent says why not.
func TestHostileSegment(t *testing.T) {
	for _, row := range []struct {
		attack string
		// names is what the agent says of it; empty is nothing.
		names resource.ConditionCode
		// stops says that the server may be kept from its boot by it.
		stops bool
	}{
		{"listens", "", false},
		{"MAC forged", resource.CondTwoClaimants, false},
		{"MAC forged, no UUID", resource.CondTwoClaimants, true},
		{"UUID forged", "", false},
		{"MAC and UUID forged", resource.CondBootLoop, true},
		{"another architecture", resource.CondTwoClaimants, false},
		{"another server with its UUID", "", false},
		{"relay forged", resource.CondBootLoop, true},
		{"relay forged, another UUID", resource.CondTwoClaimants, false},
		{"by PXE", "", false},
		{first, resource.CondBootLoop, true},
		{"twin", resource.CondBootLoop, true},
		{"token replayed", "", false},
		{"token replayed from the server's address", "", true},
		{"report before fetch", "", false},
		{"tokens guessed", "", false},
		{"rogue DHCP server", resource.CondForeignDHCP, true},
		{"ARP: the agent's address", resource.CondAddressSpoofed, true},
		{"ARP: the server's address", resource.CondAddressSpoofed, true},
		{"neighbour advertisements", resource.CondAddressSpoofed, true},
		{"flood of DECLINE", "", false},
		{"flood of RELEASE", "", false},
		{"flood of INFORM", "", false},
		{"flood of DISCOVER", "", false},
	} {
		for _, way := range resource.SecretsWays() {
			t.Run(row.attack+"/"+string(way), func(t *testing.T) {
				t.Parallel()
				s := besiege(t, row.attack, way, row.names, row.stops)
				t.Logf("%+v", s)
				strongest := resource.EvidenceReported
				if way == resource.SecretsBMC {
					strongest = resource.EvidenceObserved
				}
				if row.attack == first {
					if way == resource.SecretsSegment {
						stolen(t, s)
						return
					}
					if s.Loot.Boots == 0 {
						t.Error("the intruder was not first") // then nothing here is shown
					}
				}
				switch {
				case s.Said.Recorded != "" && s.Said.Recorded != strongest:
					t.Errorf("it is recorded as %s", s.Said.Recorded)
				case way == resource.SecretsBMC && (s.Loot.Heard || s.Loot.Given):
					t.Error("the intruder has the user data")
				case way == resource.SecretsBMC && s.Said.Recorded != "" && s.Ran.Installs == 0:
					t.Error("the record came of the intruder")
				case way == resource.SecretsSegment && s.Booted && !s.Loot.Heard:
					t.Error("the intruder hears nothing") // then nothing here is shown
				case row.attack != "listens" && s.Loot.Tries == 0:
					t.Error("the intruder did nothing")
				}
				if !s.Booted && !row.stops {
					t.Error("the server has not booted")
				}
				if !s.Booted && row.names == "" {
					t.Error("nothing says why the server has not booted")
				}
				if _, ok := s.All[resource.CondMethodMismatch]; ok && row.names == resource.CondTwoClaimants && !row.stops {
					t.Error("what another machine asked is taken for the server's firmware")
				}
				if row.names != "" && !s.Named && (!s.Booted || !row.stops) {
					t.Errorf("%s was not said", row.names)
				}
			})
		}
	}
}

// first is the attack of one who needs no luck.
const first = "the server before it asks"

// stolen holds of an intruder who is the server as far as anybody can tell, where the segment
// was chosen: it has the user data, and the record says that somebody said so.
func stolen(t *testing.T, s siege) {
	t.Helper()
	if !s.Loot.Given || s.Loot.Accepted == 0 || s.Said.Recorded != resource.EvidenceReported {
		t.Error("the intruder was not taken for the server") // then nothing here is shown
	}
}

// siege is what came of an attack.
type siege struct {
	Booted bool // what the hub said, and then from disk
	Named  bool // it was said what is wrong
	Loot   loot
	Ran    ran
	Said   state
	All    map[resource.ConditionCode]string
	Took   time.Duration
}

// besiege has a server booted beside an intruder, to the end, or until it is said why not
// where that may be.
func besiege(t *testing.T, attack string, way resource.SecretsWay, names resource.ConditionCode, stops bool) (s siege) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), siegeLimit+limit)
	defer cancel()
	n := newNeighbourhood(ctx, t)
	ref := hear[string](start(t, n.world, childRegistry, nil))
	c := serverConfig{Post: post}
	if attack == first { // firmware that starts answers nobody
		c.Post = slowPost
		if err := n.machine.Run(ctx, "ip link set "+clientDevice+" down"); err != nil {
			t.Fatal(err)
		}
	}
	server := start(t, n.machine, childServer, c)
	at := hear[machineAt](server)
	intruder := start(t, n.neighbour, childIntruder, attack)
	hear[string](intruder)
	agent := start(t, n.rack, childAgent, rackConfig{
		Dir: t.TempDir(), BMC: at, Image: ref, Boot: resource.FirstBootUefiHTTP, Known: []string{knownMAC}, UUID: serverUUID, Way: way,
		PoolFrom: netip.MustParseAddr("10.7.0.101"), PoolTo: netip.MustParseAddr("10.7.0.109"),
	})
	hear[string](agent)
	sum := sha256.Sum256(bootFile())
	began := time.Now()
	var installing, named time.Time
	s.All = map[resource.ConditionCode]string{}
	for finished := false; time.Since(began) < siegeLimit; time.Sleep(100 * time.Millisecond) { // between looks
		agent.say("state")
		s.Said = hear[state](agent)
		maps.Copy(s.All, s.Said.Conditions)
		if _, s.Named = s.All[names]; s.Named && named.IsZero() {
			named = time.Now()
		}
		if attack == first && time.Since(began) > slowPost-time.Second {
			if err := n.machine.Run(ctx, "ip link set "+clientDevice+" up"); err != nil {
				t.Fatal(err)
			}
		}
		if attack == first && way == resource.SecretsSegment && s.Said.Recorded != "" {
			break
		}
		server.say("ran")
		s.Ran = hear[ran](server)
		if s.Ran.UserData != "" && installing.IsZero() {
			installing = time.Now()
		}
		if !finished && !installing.IsZero() && time.Since(installing) > lingers {
			finished = true
			server.say("finish")
		}
		s.Booted = s.Said.Recorded != "" && s.Ran.Disk > 0 && s.Ran.Digest == "sha256:"+hex.EncodeToString(sum[:])
		if s.Booted || stops && s.Named && time.Since(named) > 4*lingers {
			break
		}
	}
	s.Took = time.Since(began)
	if !s.Booted {
		t.Logf("%+v", vitalsOf(agent).Metrics)
	}
	intruder.say("loot")
	s.Loot = hear[loot](intruder)
	return s
}
