package faults

import (
	"math/rand/v2"
	"sync"
)

// seeded gives a policy its own source of chance; brokers ask from many goroutines.
func seeded(seed uint64, p func(*rand.Rand, string, []byte) []delivery) policy {
	r := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	return func(topic string, payload []byte) []delivery {
		mu.Lock()
		defer mu.Unlock()
		return p(r, topic, payload)
	}
}
