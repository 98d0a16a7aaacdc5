package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The stored form is a line of JSON, and behind it the body as it is: in base64 the
// longest would not be taken by the broker.
func encodeEnv(v *SealedEnv) ([]byte, error) {
	head, err := json.Marshal(v)
	return append(append(head, '\n'), v.Body...), err
}

func decodeEnv(value []byte) (*SealedEnv, error) {
	head, body, ok := bytes.Cut(value, []byte("\n"))
	if !ok {
		return nil, errors.New("it is cut short")
	}
	v := &SealedEnv{Body: body}
	return v, json.Unmarshal(head, v)
}

// PeekEnv is what was last sealed for a boot configuration, for reading only; nil if
// nothing was. It is decoded once for each revision, and empty if it cannot be read.
func (s *Store) PeekEnv(config string) *SealedEnv { return s.envs.peek(config) }

// EnvFor is what was sealed for an agent, by its digest; nil if there is none.
func (s *Store) EnvFor(agent, sealed string) *SealedEnv {
	for _, v := range s.envs.find(bySealed, sealed) {
		if v.Sealed == sealed && v.Agent == agent {
			return v
		}
	}
	return nil
}

// PutEnv writes what was sealed: compare-and-set on its revision, which it updates. The
// codes are invalid, conflict, unavailable and timeout.
func (s *Store) PutEnv(ctx context.Context, v *SealedEnv) error {
	if len(v.Body) > resource.MaxSealedEnv {
		return protocol.Errorf(protocol.CodeInvalid, "put sealed boot environment", "%d bytes are more than %d", len(v.Body), resource.MaxSealedEnv)
	}
	return s.envs.put(ctx, v.Config, v)
}

// SweepEnvs removes what was sealed and is needed no more; needed judges the
// configurations that there are. The codes are conflict, unavailable and timeout.
func (s *Store) SweepEnvs(ctx context.Context, needed func(*resource.BootConfiguration) bool) error {
	return s.envs.sweep(ctx, func(config string) bool {
		b, ok := s.shared(resource.KindBootConfiguration, config).(*resource.BootConfiguration)
		return ok && needed(b)
	})
}

func (s *Store) envBook() *book[SealedEnv] {
	return &book[SealedEnv]{
		store: s, bucket: envBucket, what: "sealed boot environment", decode: decodeEnv, encode: encodeEnv,
		revision: func(v *SealedEnv) *uint64 { return &v.Revision },
	}
}
