package rack

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol/resource"
)

// idle says that nothing was ever sent to a server.
func (b *bench) idle(i int) bool {
	return !slices.ContainsFunc(b.servers[i].BMC.History(), func(h bmcsim.Record) bool {
		return h.What == bmcsim.RecordPatch || h.What == bmcsim.RecordReset
	})
}

// TestTroubleAtTheBMC claims a server whose BMC cannot be used. A condition says
// so, nothing is sent, and when it is mended the first boot goes through.
func TestTroubleAtTheBMC(t *testing.T) {
	t.Parallel()
	old, ok := bmcsim.Preset("OldTLS")
	if !ok {
		t.Fatal("no preset OldTLS")
	}
	for name, tt := range map[string]struct {
		bmc   bmcsim.Personality
		spoil func(*bench)
		want  resource.ConditionCode
		mend  func(*bench)
	}{
		"old TLS": {
			old,
			func(*bench) {},
			resource.CondBMCDenied,
			func(b *bench) { b.intents[0].BMC.LegacyTLS = true },
		},
		"wrong credentials": {
			bmcsim.Plain(),
			func(b *bench) { b.creds.set(bmc.Credentials{Username: "admin", Password: "wrong"}, nil) },
			resource.CondBMCDenied,
			func(b *bench) {
				b.eventually("several looks", func() bool { return b.creds.looks() > 3 || b.calls.observed.Load() > 1 })
				if n := b.calls.observed.Load(); n != 1 {
					b.t.Errorf("the BMC was asked %d times with credentials that it refused", n)
				}
				b.creds.set(bmc.Credentials{Username: "admin", Password: "secret"}, nil)
			},
		},
		"no credentials": {
			bmcsim.Plain(),
			func(b *bench) { b.creds.set(bmc.Credentials{}, errors.New("open bmc: no such file")) },
			resource.CondBMCCredentials,
			func(b *bench) { b.creds.set(bmc.Credentials{Username: "admin", Password: "secret"}, nil) },
		},
		"refused": {
			bmcsim.Plain(),
			func(b *bench) { _ = b.servers[0].BMC.SetReach(bmcsim.ReachRefused) },
			resource.CondBMCUnreachable,
			func(b *bench) {
				if err := b.servers[0].BMC.SetReach(bmcsim.ReachOK); err != nil {
					b.t.Fatal(err)
				}
			},
		},
		"another certificate": {
			bmcsim.Plain(),
			func(b *bench) { b.intents[0].BMC.Fingerprint = "sha256:" + strings.Repeat("00", 32) },
			resource.CondBMCDenied,
			func(b *bench) { b.intents[0].BMC.Fingerprint = b.servers[0].BMC.Fingerprint() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, tt.bmc)
			tt.spoil(b)
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until(string(tt.want), 0, has(tt.want))
			if !b.idle(0) {
				t.Errorf("something was sent: %+v", b.servers[0].BMC.History())
			}
			tt.mend(b)
			b.send(a)
			b.until("the disk boot", 0, diskBoot)
		})
	}
}

// TestTroubleWithBootFiles claims a server whose image cannot be had whole. The
// server is not touched, and boots when the image can be had (P7).
func TestTroubleWithBootFiles(t *testing.T) {
	t.Parallel()
	spoil := func(f func([]byte) []byte) func(*bench) {
		return func(b *bench) { b.reg.spoil.Store(&f) }
	}
	for name, tt := range map[string]struct {
		spoil func(*bench)
		want  resource.ConditionCode
	}{
		"registry down":   {func(b *bench) { b.reg.down.Store(true) }, resource.CondArtefactsFailed},
		"truncated":       {spoil(func(body []byte) []byte { return body[:len(body)/2] }), resource.CondArtefactsFailed},
		"other content":   {spoil(func(body []byte) []byte { body[7] ^= 1; return body }), resource.CondArtefactsFailed},
		"quota too small": {func(b *bench) { b.quota = 4 << 10 }, resource.CondInsufficientStorage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			tt.spoil(b)
			a, stop := b.start(nil)
			b.claim(0)
			b.send(a)
			r := b.until(string(tt.want), 0, has(tt.want))
			if def, _ := resource.LookupCondition(tt.want); def.Hint == "" {
				t.Error("no hint")
			}
			if r.Attempt != nil || r.ArtefactsLocal || !b.idle(0) {
				t.Errorf("touched: %+v", r)
			}
			b.reg.down.Store(false)
			b.reg.spoil.Store(nil)
			if b.quota > 0 {
				stop()
				b.quota = 0
				_, _ = b.start(nil)
			}
			b.until("the disk boot", 0, diskBoot)
		})
	}
}
