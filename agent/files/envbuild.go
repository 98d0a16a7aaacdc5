package files

import (
	"context"
	"errors"
	"fmt"
	"path"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/netboot/fsview"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// build makes one environment: it merges, finds where the files come from, brings them,
// renders every template once, and looks whether all that the boot needs is there (seed
// 004, Changing a BootEnv for a Machine). Nothing of it is served yet.
func (e *envs) build(ctx context.Context, server, claim string, intent message.EnvIntent, in message.ServerIntent) (*Environment, error) {
	bundle, err := e.bundle(ctx, server, claim, intent)
	if err != nil {
		return nil, err
	}
	recipe, err := bootenv.Merge(bundle)
	if err != nil {
		return nil, err
	}
	root, err := recipe.Root()
	if err != nil {
		return nil, err
	}
	sample := bootenv.Sample()
	start, err := startOf(ctx, recipe, in)
	if err != nil {
		return nil, err
	}
	tree, err := recipe.Render(ctx, sample)
	if err != nil {
		return nil, err
	}
	mounts, err := e.mounts(ctx, pinName(server, intent.Bundle), recipe, root, start)
	if err != nil {
		return nil, errors.Join(err, closeMounts(mounts))
	}
	view, err := fsview.New(mounts)
	if err != nil {
		return nil, errors.Join(err, closeMounts(mounts))
	}
	b := &Environment{
		server: server, claim: claim, intent: intent, os: recipe.Spec.OS.Name, source: root.Source, at: e.cfg.Clock(), view: view, recipe: recipe, key: loaderKey(in), boot: start,
	}
	b.root, b.destructive = root.At, discards(recipe.Spec, tree)
	if root.Source == resource.EnvFromISO {
		b.upload = path.Join(isosPath, root.ISO.File)
	}
	if b.generation, err = e.complete(ctx, b, root, tree); err != nil {
		view.Release()
		return nil, err
	}
	return b, nil
}

// discards says whether an environment discards what is on the disks: it says so, or it has
// what lets rackboot-probe do that, whatever it says.
func discards(spec resource.BootEnvSpec, sample bootenv.Tree) bool {
	return spec.Destructive || sample.Has(protocol.FileDiscard)
}

// isosPath is where uploaded files lie (seed 004, Providing Local Content).
const isosPath = "mounts/isos"

// mounts are the files of an environment, without those that are rendered. Those that were
// opened before an error are returned with it.
func (e *envs) mounts(ctx context.Context, pin string, recipe *bootenv.Effective, root bootenv.Root, boot chain.Env) (out []fsview.Mount, err error) {
	if dir := e.cfg.Folder; dir != "" {
		disk, err := fsview.Disk(dir)
		if err != nil {
			return out, err
		}
		out = append(out, fsview.Mount{FS: disk, Origin: "folder " + dir, Close: closer(disk)})
	}
	for _, iso := range recipe.Bundle.ISOs {
		m, err := e.iso(iso, path.Join(isosPath, iso.File))
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
	switch root.Source {
	case resource.EnvFromISO:
		out = append(out, fsview.Mount{Links: fsview.Links{root.At: path.Join(isosPath, root.ISO.File)}, Origin: "boot environment " + recipe.Bundle.BootEnv})
	case resource.EnvFromImage:
		m, err := e.image(root.Image, root.At)
		if err != nil {
			return out, err
		}
		out = append(out, m)
	case resource.EnvFromProxy:
		proxies, err := e.proxies(ctx, pin, root, boot)
		out = append(out, proxies...)
		if err != nil {
			return out, err
		}
	case resource.EnvFromNone:
	}
	return out, nil
}

// iso is an uploaded file in its place, read where it lies.
func (e *envs) iso(iso resource.EnvISO, at string) (fsview.Mount, error) {
	const op = "bring uploaded file"
	e.uploads.Want(iso)
	done, progress, err := e.uploads.State(iso)
	switch {
	case err != nil:
		return fsview.Mount{}, err
	case !done:
		return fsview.Mount{}, waits{protocol.Errorf(protocol.CodeUnavailable, op, "%s is on its way: %s", iso.File, progress)}
	}
	f, size, err := e.cfg.Blobs.Open(iso.Digest)
	if err != nil {
		return fsview.Mount{}, err
	}
	m, err := fsview.MountArchive(f, size, iso.File)
	if err != nil {
		return fsview.Mount{}, named("uploaded file "+iso.File, err)
	}
	m.At = at
	return m, nil
}

// image is an OCI image in its place.
func (e *envs) image(image resource.Image, at string) (fsview.Mount, error) {
	e.images.want(image)
	switch state := e.images.state(image); {
	case state.Failed != nil:
		return fsview.Mount{}, protocol.Errorf(protocol.CodeUnavailable, "bring image of boot environment", "%s: %s", image.Reference, state.Failed.Message)
	case !state.Local:
		return fsview.Mount{}, waits{protocol.Errorf(protocol.CodeUnavailable, "bring image of boot environment", "%s is on its way", image.Reference)}
	}
	return fsview.Mount{At: at, FS: newImageFiles(e.cfg.Blobs, image), Origin: "image " + image.Reference}, nil
}

// named says in an error's message what it is about, which a refusal shows without the rest.
func named(what string, err error) error {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	return protocol.Errorf(e.Code, "build boot environment", "%s: %s", what, e.Message).WithHint("%s", e.Hint)
}

func closer(v any) func() error {
	if c, ok := v.(interface{ Close() error }); ok {
		return c.Close
	}
	return nil
}

func closeMounts(mounts []fsview.Mount) error {
	var errs []error
	for _, m := range mounts {
		if m.Close != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}
