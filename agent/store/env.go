package store

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Env is the boot environment that is in force for a server: what is built again when the
// agent starts, also while the hub is away and when a newer one is refused.
type Env struct {
	Server     string             `json:"server"`
	OwnerUID   string             `json:"ownerUID"` // that it was sealed for
	Intent     message.EnvIntent  `json:"intent"`
	OS         string             `json:"os,omitempty"`
	Generation string             `json:"generation"`
	Source     resource.EnvSource `json:"source"`
	At         time.Time          `json:"at"`
}

func envKey(server string) string { return "env/" + server }

// Envs are the boot environments of servers.
type Envs struct{ disk *disk }

// Put replaces what is in force for a server, on disk when it returns.
func (es *Envs) Put(e Env) error {
	return es.disk.update(func(t state.Txn) error { return put(t, envKey(e.Server), e) })
}

// Of is what is in force for a server; nil is nothing.
func (es *Envs) Of(server string) (e *Env, err error) {
	err = es.disk.db.View(func(t state.Txn) error {
		v, found, err := get[Env](t, envKey(server))
		if found {
			e = &v
		}
		return err
	})
	return e, err
}

// All are those of all servers.
func (es *Envs) All() (all []Env, err error) {
	err = es.disk.db.View(func(t state.Txn) error {
		all, err = scan[Env](t, envKey(""))
		return err
	})
	return all, err
}

// Drop forgets that of a server.
func (es *Envs) Drop(server string) error {
	return es.disk.update(func(t state.Txn) error { return t.Delete(envKey(server)) })
}
