package daemon

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/state"
)

// offlineStore is the store of a hub that does not run. The folder is locked: no hub may run on it, nor on
// another host beside it (deserted).
type offlineStore struct {
	*store.Store

	up upkeep
	// close is to be called when it is not needed any more.
	close func()
}

// openOffline opens the store alone: an agent that knocks is not answered. crash is nil but in tests; accept is as of openStore.
func (c Config) openOffline(ctx context.Context, keys *pki.PKI, crash state.Crasher, accept bool) (offlineStore, error) {
	log, reg := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	c.MQTT = ""
	b, err := openBroker(c, keys, nil, log, reg)
	if err != nil {
		return offlineStore{}, err
	}
	at, err := c.openPlace(ctx, b, log, reg)
	if err != nil {
		b.Close()
		return offlineStore{}, err
	}
	var st *store.Store
	var up upkeep
	if c.Store.NATS != nil {
		err = deserted(ctx, at.streams)
	}
	if err == nil {
		st, up, err = openStore(ctx, c, at, nil, log, crash, accept)
	}
	if err != nil {
		at.close()
		b.Close()
		return offlineStore{}, err
	}
	up.logs = copiesOf(c, at, keys, st, log) // nothing is copied
	return offlineStore{st, up, func() {
		up.heads.Close()
		at.close()
		b.Close()
	}}, nil
}
