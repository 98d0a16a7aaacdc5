package files

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// bundle is what an environment is made of. It lies on disk as the hub has sealed it, so
// that who takes the disk alone has no secret of it; it is opened in memory.
func (e *envs) bundle(ctx context.Context, server, claim string, in message.EnvIntent) (out resource.EnvBundle, err error) {
	const op = "fetch boot environment"
	cfg := e.cfg
	if !cfg.Blobs.Has(in.Sealed) || cfg.Blobs.Verify(ctx, in.Sealed) != nil {
		switch {
		case cfg.Bundles == nil:
			return out, protocol.Errorf(protocol.CodeUnsupported, op, "this agent does not know the hub's API").WithHint("give link.api in the agent's file")
		case in.Size < message.SealedOverhead || in.Size > resource.MaxSealedEnv:
			return out, protocol.Errorf(protocol.CodeInvalid, op, "the document says %d bytes", in.Size)
		}
		body, err := cfg.Bundles.FetchEnv(ctx, in.Sealed)
		if err != nil {
			return out, err
		}
		// What is noted and not pinned is destroyed, as user data is.
		if err := e.cfg.Store.UserData.Note(in.Sealed); err != nil {
			return out, err
		}
		if err := cfg.Blobs.Write(ctx, in.Sealed, in.Size, bytes.NewReader(body)); err != nil {
			return out, err
		}
	}
	if cfg.Secrets == nil {
		return out, protocol.Errorf(protocol.CodeUnsupported, op, "this agent has no key for secrets")
	}
	f, _, err := cfg.Blobs.Open(in.Sealed)
	if err != nil {
		return out, err
	}
	defer f.Close()
	sealed, err := io.ReadAll(io.LimitReader(f, resource.MaxSealedEnv+1))
	if err != nil {
		return out, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	content, err := cfg.Secrets.OpenEnv(server, claim, in.Bundle, sealed)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(content, &out); err != nil {
		return out, protocol.Errorf(protocol.CodeInvalid, op, "the bundle is no JSON of one: %w", err).WithHint("hub and agent may be of releases that do not fit; see docs/guide/boot-environments.md")
	}
	return out, nil
}
