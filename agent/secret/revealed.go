package secret

import (
	"crypto/sha256"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/message"
)

// revealed are credentials that were decrypted and are asked for again and again. Each is decrypted once, so
// that reading a BMC does not spread its password in memory: what Go has freed keeps its content until it is
// used again. It is safe for concurrent use.
type revealed struct {
	mu    sync.Mutex
	byBMC map[string]plain
	swept time.Time
}

type plain struct {
	of    [sha256.Size]byte // the box
	have  message.BMCCredentials
	asked time.Time
}

// unasked is after what time credentials that nobody asks for are forgotten: their BMC is another agent's by then.
const unasked = time.Hour

// get returns what a box holds, and decrypts it if it is another than before.
func (r *revealed) get(c store.Credentials, name []byte, now time.Time, decrypt func() (message.BMCCredentials, error)) (message.BMCCredentials, error) {
	h := sha256.New()
	h.Write(name)
	h.Write(c.Box)
	var of [sha256.Size]byte
	h.Sum(of[:0])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	p, has := r.byBMC[c.BMC]
	if !has || p.of != of {
		have, err := decrypt()
		if err != nil {
			return message.BMCCredentials{}, err
		}
		p = plain{of: of, have: have}
	}
	p.asked = now
	if r.byBMC == nil {
		r.byBMC = map[string]plain{}
	}
	r.byBMC[c.BMC] = p
	return p.have, nil
}

func (r *revealed) sweep(now time.Time) {
	if now.Sub(r.swept) < unasked {
		return
	}
	r.swept = now
	for bmc, p := range r.byBMC {
		if now.Sub(p.asked) >= unasked {
			delete(r.byBMC, bmc)
		}
	}
}
