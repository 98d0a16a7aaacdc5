package api

import (
	"context"
	"net/http"
	"net/url"

	"rackboot/protocol/resource"
)

// The parameters of a rendering: the boot environment in place of the server's, and the
// path of the one file whose content is wanted.
const (
	QueryBootEnv = "bootenv"
	QueryPath    = "path"
)

// EnvRender is what a server would be served of a boot environment, made for a sample
// attempt: addresses and token are none that a server gets, and values of Secrets are
// masked before anything is rendered.
type EnvRender struct {
	Server  string             `json:"server"`
	BootEnv string             `json:"bootEnv"`
	OS      string             `json:"os"`
	Source  resource.EnvSource `json:"source"`
	// From is the uploaded file, the image, or the URL that the source has.
	From  string          `json:"from,omitempty"`
	Boots []EnvRenderBoot `json:"boots,omitempty"`
	Files []EnvRenderFile `json:"files"`
}

// EnvRenderBoot is how one kind of machine boots it; Refused says why it does not.
type EnvRenderBoot struct {
	Kind        resource.LoaderKey `json:"kind"`
	Loader      string             `json:"loader,omitempty"`
	UKI         string             `json:"uki,omitempty"`
	Kernel      string             `json:"kernel,omitempty"`
	Initrds     []string           `json:"initrds,omitempty"`
	CommandLine string             `json:"commandLine,omitempty"`
	Refused     string             `json:"refused,omitempty"`
}

// EnvRenderFile is one rendered file or link. Content is there where the path was asked
// for.
type EnvRenderFile struct {
	Path     string           `json:"path"`
	Template string           `json:"template,omitempty"`
	Link     string           `json:"link,omitempty"`
	Size     int              `json:"size"` // bytes
	Content  string           `json:"content,omitempty"`
	Params   []EnvRenderParam `json:"params,omitempty"`
}

// EnvRenderParam says where a value came from that a file used.
type EnvRenderParam struct {
	Param  string `json:"param"`
	Source string `json:"source"`
	Secret bool   `json:"secret,omitempty"`
}

// pathEnvRender is the route of what a server would be served.
func pathEnvRender(server string) string {
	return PathObject(resource.KindServer, server) + "/bootenv/render"
}

// Render reads what a server would be served. env is empty for the environment that
// it has, path for all files without their contents.
func (e Environments) Render(ctx context.Context, server, env, path string) (out EnvRender, err error) {
	q := url.Values{}
	if env != "" {
		q.Set(QueryBootEnv, env)
	}
	if path != "" {
		q.Set(QueryPath, path)
	}
	to := pathEnvRender(server)
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return out, e.hub.call(ctx, http.MethodGet, to, nil, &out)
}
