package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Envs keeps what boots carry besides their image, as it was sealed for agents.
type Envs struct {
	core *core
	book *book[SealedEnv]
}

func newEnvs(c *core) *Envs {
	return &Envs{c, &book[SealedEnv]{
		core: c, bucket: envBucket, what: "sealed boot environment", decode: decodeEnv, encode: encodeEnv,
		revision: func(v *SealedEnv) *uint64 { return &v.Revision },
	}}
}

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

// Peek is what was last sealed for a boot configuration, for reading only; nil if
// nothing was. It is decoded once for each revision, and empty if it cannot be read.
func (e *Envs) Peek(config string) *SealedEnv { return e.book.peek(config) }

// For is what was sealed for an agent, by its digest; nil if there is none.
func (e *Envs) For(agent, sealed string) *SealedEnv {
	for _, v := range e.book.find(bySealed, term{word: sealed}) {
		if v.Sealed == sealed && v.Agent == agent {
			return v
		}
	}
	return nil
}

// Put writes what was sealed: compare-and-set on its revision, which it updates. The
// codes are invalid, conflict, unavailable and timeout.
func (e *Envs) Put(ctx context.Context, v *SealedEnv) error {
	if len(v.Body) > resource.MaxSealedEnv {
		return protocol.Errorf(protocol.CodeInvalid, "put sealed boot environment", "%d bytes are more than %d", len(v.Body), resource.MaxSealedEnv)
	}
	return e.book.put(ctx, v.Config, v)
}

// Sweep removes what was sealed and is needed no more; needed judges the
// configurations that there are. The codes are conflict, unavailable and timeout.
func (e *Envs) Sweep(ctx context.Context, needed func(*resource.BootConfiguration) bool) error {
	return e.book.sweep(ctx, func(config string) bool {
		b, ok := e.core.shared(resource.KindBootConfiguration, config).(*resource.BootConfiguration)
		return ok && needed(b)
	})
}
