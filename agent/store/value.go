package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"rackboot/protocol"
	"rackboot/state"
)

func failing(op string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the disk of the agent's data folder")
}

func get[T any](t state.Txn, key string) (v T, found bool, err error) {
	raw, err := t.Get(key)
	if errors.Is(err, state.ErrNotFound) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	v, err = decode[T](key, raw)
	return v, err == nil, err
}

func decode[T any](key string, raw []byte) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("key %s: %w", key, err)
	}
	return v, nil
}

func encode(key string, v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", key, err)
	}
	return raw, nil
}

func put(t state.Txn, key string, v any) error {
	raw, err := encode(key, v)
	if err != nil {
		return err
	}
	return t.Set(key, raw)
}

func scan[T any](t state.Txn, prefix string) (out []T, err error) {
	err = t.Scan(prefix, func(key string, raw []byte) error {
		v, err := decode[T](key, raw)
		out = append(out, v)
		return err
	})
	return out, err
}

// incarnation reads the database's identity.
func incarnation(t state.Txn) (string, error) {
	v, err := t.Get(keyIncarnation)
	return string(v), err
}
