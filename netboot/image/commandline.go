package image

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Configurations that have the kernel's command line, of ironcore-image.
const (
	typeConfig         = "application/vnd.ironcore.image.config.v1+json"
	typeConfigV1Alpha1 = "application/vnd.ironcore.image.config.v1alpha1+json"
)

// maxConfig bounds a configuration, in bytes.
const maxConfig = 64 << 10

// commandLine reads the kernel's command line from an image's configuration; empty if
// it is of another type. The manifest names its digest, so that it is what the image's
// digest stands for.
func (r *registry) commandLine(ctx context.Context, op string, config v1.Descriptor) (string, error) {
	key := configKey(string(config.MediaType))
	if key == "" {
		return "", nil
	}
	bad := func(format string, args ...any) (string, error) {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "image configuration "+format, args...).WithHint("build the image anew")
	}
	if config.Digest.Algorithm != "sha256" || config.Size <= 0 || config.Size > maxConfig {
		return bad("has digest %q and size %d; at most %d bytes are read", config.Digest, config.Size, maxConfig)
	}
	layer, err := r.puller.Layer(ctx, r.repo.Digest(config.Digest.String()))
	if err != nil {
		return "", r.failed(op, "configuration", err)
	}
	body, err := layer.Compressed()
	if err != nil {
		return "", r.failed(op, "configuration", err)
	}
	defer body.Close()
	raw, err := io.ReadAll(newVerifier(body, resource.Artefact{Kind: "configuration", Digest: config.Digest.String(), Size: config.Size}, r.host))
	if err != nil {
		return "", r.failed(op, "configuration", err)
	}
	line, err := parseConfig(raw, key)
	if err != nil {
		return bad("%w", err)
	}
	return line, nil
}

// parseConfig reads a configuration whose command line is in field key. Space around the line, as a line end that was left
// in, means nothing to a kernel.
func parseConfig(raw []byte, key string) (string, error) {
	var c map[string]json.RawMessage
	if err := json.Unmarshal(raw, &c); err != nil {
		return "", err
	}
	line := ""
	if value, ok := c[key]; ok {
		if err := json.Unmarshal(value, &line); err != nil {
			return "", err
		}
	}
	line = strings.TrimSpace(line)
	return line, resource.CheckCommandLine(line)
}
