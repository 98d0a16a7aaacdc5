package image

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"rackboot/protocol"
)

// allowed refuses registries that are not among o.Allow, by host, or by host and the
// path or one above it. The reference counts as it is written, before mirrors: what an
// image is called says who made it.
func (o Options) allowed(op string, ref name.Reference) error {
	if len(o.Allow) == 0 {
		return nil
	}
	host, path := ref.Context().RegistryStr(), ref.Context().RepositoryStr()
	for _, entry := range o.Allow {
		h, prefix, below := strings.Cut(entry, "/")
		if hub(h) == host && (!below || path == prefix || strings.HasPrefix(path, prefix+"/")) {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "images of %s/%s are not allowed here; allowed are %s", host, path, strings.Join(o.Allow, ", ")).
		WithHint("copy the image to an allowed registry, or add %s to images.allow", host)
}

// hub is Docker Hub's own name for the name that people write.
func hub(host string) string {
	if host == dockerName {
		return dockerHub
	}
	return host
}

// written is the name that people write for a host.
func written(host string) string {
	if host == dockerHub {
		return dockerName
	}
	return host
}

// CheckAllow says whether an entry of Options.Allow is one: host, host:port, or one of
// them with the beginning of a repository's path. The error is invalid.
func CheckAllow(entry string) error {
	host, path, below := strings.Cut(entry, "/")
	if err := CheckHost(host); err != nil {
		return err
	}
	if !below {
		return nil
	}
	if _, err := name.NewRepository(entry, name.StrictValidation); err != nil || strings.HasSuffix(path, "/") {
		return protocol.Errorf(protocol.CodeInvalid, "check allowed registry", "%.100q is not a host with the beginning of a repository's path", entry).
			WithHint("write registry.example or registry.example/team, without a / at the end")
	}
	return nil
}
