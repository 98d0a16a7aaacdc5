package plan

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// EnvSecret is what is in a Secret of type params, opened.
type EnvSecret struct {
	Values  map[string]string
	Version string // status.digest of the Secret
}

// EnvFor is whom an environment is for.
type EnvFor struct {
	Purpose    resource.Purpose
	Owner      string // name of the claim or maintenance; empty for a discovery
	KernelArgs string // the server's and the owner's
	Ignition   bool
}

// EnvForConfig is whom a configuration's environment is for.
func EnvForConfig(b *resource.BootConfiguration) EnvFor {
	w := EnvFor{Purpose: b.Spec.Owner.Kind.Or(), Owner: b.Spec.Owner.Name, KernelArgs: b.Spec.KernelArgs, Ignition: b.Spec.Ignition != nil}
	if w.Purpose == resource.PurposeDiscovery {
		w.Owner = ""
	}
	return w
}

// EnvBundle puts together what one server's files are made from. The same fleet gives the
// same bundle, to the byte of its encoding. What is named and not there is left out:
// package netboot/bootenv says so when it judges the bundle.
//
// The sources of params are, first the one that wins (facts boot-environments, 1.6): the
// server, its profiles in their order, the group that selects it, the profile global. A
// Secret's values are beside those of their source.
//
// Of the Templates are those in the bundle that the environment or a bootenv-customize of
// the server names by id, and those that any text of the bundle names by a literal in
// CallTemplate or template, over and over. One whose name is put together when it is rendered must be
// named by a literal somewhere too; a comment will do.
func EnvBundle(f Fleet, srv *resource.Server, env *resource.BootEnv, w EnvFor, secrets map[string]EnvSecret) resource.EnvBundle {
	b := resource.EnvBundle{
		BootEnv: env.Metadata.Name, UID: env.Metadata.UID, Spec: env.Spec, Machine: envMachine(f, srv, EnvArchitecture(srv, env)),
		Purpose: w.Purpose, Owner: w.Owner, KernelArgs: w.KernelArgs, Ignition: w.Ignition,
		Params: envParams(f, srv, secrets), Schemas: map[string]resource.ParamSpec{},
	}
	for _, p := range f.Env.Params {
		b.Schemas[p.Spec.Name] = p.Spec
	}
	overrides := overridesOf(b.Params, env.Metadata.Name)
	b.Templates = envTemplates(f, b, overrides)
	oses := []resource.EnvOS{env.Spec.OS}
	for _, o := range overrides {
		oses = append(oses, o.OS)
	}
	files, images := map[string]bool{}, map[string]bool{}
	for _, os := range oses {
		for _, a := range archsFor(os, b.Machine.Architecture) {
			files[a.IsoFile], images[a.Image] = true, true
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if iso, ok := f.Env.ISOs[file]; ok {
			b.ISOs = append(b.ISOs, iso)
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(images)) {
		if img, ok := f.Env.Images[EnvImageKey{ref, b.Machine.Architecture}]; ok {
			b.Images = append(b.Images, img)
		}
	}
	return b
}

// EnvImageKeys are the images that a server's environment, or what is merged into it, may
// boot, in order.
func EnvImageKeys(f Fleet, srv *resource.Server, env *resource.BootEnv) (out []EnvImageKey) {
	oses := []resource.EnvOS{env.Spec.OS}
	for _, o := range overridesOf(envParams(f, srv, nil), env.Metadata.Name) {
		oses = append(oses, o.OS)
	}
	arch := EnvArchitecture(srv, env)
	for _, os := range oses {
		for _, a := range archsFor(os, arch) {
			if key := (EnvImageKey{a.Image, arch}); a.Image != "" && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// EnvArchitecture is the architecture that an environment's files are made for: the server's, and
// where that is not known, the environment's if it has one. Fields outside of
// os.supportedArchitectures are of amd64 (seed 004). Empty: somebody has to say it.
func EnvArchitecture(srv *resource.Server, env *resource.BootEnv) string {
	if a := srv.Architecture(); a != "" {
		return a
	}
	archs := map[string]bool{}
	for key := range env.Spec.OS.SupportedArchitectures {
		archs[spelledAs(strings.ToLower(key))] = true
	}
	if len(archs) == 0 || env.Spec.OS.IsoFile != "" || env.Spec.Kernel != "" {
		archs["amd64"] = true
	}
	if len(archs) > 1 {
		return ""
	}
	return slices.Sorted(maps.Keys(archs))[0]
}

// envMachine is what templates know of a server.
func envMachine(f Fleet, srv *resource.Server, arch string) resource.EnvMachine {
	m := resource.EnvMachine{
		Name: srv.Metadata.Name, UID: srv.Metadata.UID, UUID: srv.Spec.UUID, BootMAC: srv.Spec.BootMAC, MACs: srv.Spec.MACs,
		Architecture: arch, Rack: f.RackOf(srv.Metadata.Name), Segment: srv.Spec.SegmentRef.Name, Labels: srv.Metadata.Labels,
	}
	if d := srv.Status.Discovered; m.UUID == "" && d != nil && d.Inventory != nil {
		m.UUID = d.Inventory.Board.UUID
	}
	m.UUID = cmp.Or(m.UUID, m.UID)
	return m
}

// EnvSecretsOf are the Secrets whose values a server's params have, in order.
func EnvSecretsOf(f Fleet, srv *resource.Server) (names []string) {
	add := func(r *resource.Ref) {
		if r != nil && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	add(srv.Spec.ParamsSecretRef)
	for _, p := range profilesOf(f, srv) {
		add(p.Spec.ParamsSecretRef)
	}
	slices.Sort(names)
	return names
}

// profilesOf are a server's profiles, the first the one that wins.
func profilesOf(f Fleet, srv *resource.Server) (out []*resource.Profile) {
	for _, name := range append(slices.Clone(srv.Spec.Profiles), resource.GlobalProfile) {
		if p := f.Env.profile(name); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// groupOf is the one group that selects a server; nil where none does, or several do.
func groupOf(f Fleet, srv *resource.Server) (of *resource.ServerGroup) {
	x := f.Indexed().index
	all := [][]*resource.ServerGroup{x.expressed}
	for k, v := range srv.Metadata.Labels {
		all = append(all, x.selectors[label{k, v}])
	}
	for _, groups := range all {
		for _, g := range groups {
			if !g.Spec.Selector.Matches(srv.Metadata.Labels) {
				continue
			}
			if of != nil {
				return nil
			}
			of = g
		}
	}
	return of
}

func envParams(f Fleet, srv *resource.Server, secrets map[string]EnvSecret) []resource.EnvParams {
	out := []resource.EnvParams{envSource(resource.SourceServer, srv.Spec.Params, srv.Spec.ParamsSecretRef, secrets)}
	for _, p := range profilesOf(f, srv) {
		out = append(out, envSource(resource.SourceProfile+p.Metadata.Name, p.Spec.Params, p.Spec.ParamsSecretRef, secrets))
	}
	if g := groupOf(f, srv); g != nil {
		// Before the profile of everybody, which a server may also name among its own.
		at := len(out)
		if f.Env.profile(resource.GlobalProfile) != nil {
			at--
		}
		out = slices.Insert(out, at, envSource(resource.SourceGroup+g.Metadata.Name, g.Spec.Params, nil, secrets))
	}
	return slices.DeleteFunc(out, func(p resource.EnvParams) bool { return len(p.Values) == 0 })
}

func envSource(name string, values map[string]any, ref *resource.Ref, secrets map[string]EnvSecret) resource.EnvParams {
	p := resource.EnvParams{Source: name, Values: values}
	if ref == nil {
		return p
	}
	s, ok := secrets[ref.Name]
	if !ok {
		return p
	}
	if p.Values = maps.Clone(values); p.Values == nil {
		p.Values = map[string]any{}
	}
	p.Version = s.Version
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		p.Values[name] = s.Values[name] // also in place of one that is no secret
		p.Secret = append(p.Secret, name)
	}
	return p
}

// EnvInputs names all that EnvBundle would read: while it is the same, so is the bundle.
// shared is of EnvShared.
func EnvInputs(f Fleet, shared string, srv *resource.Server, env *resource.BootEnv, w EnvFor) string {
	h := sha256.New()
	part := func(what string, obj resource.Object) {
		m := obj.Head().Metadata
		fmt.Fprintf(h, "%s %s %d\n", what, m.UID, m.Revision)
	}
	fmt.Fprintf(h, "%s\n%+v\n", shared, w)
	part("server", srv)
	part("bootenv", env)
	for _, p := range profilesOf(f, srv) {
		part("profile", p)
	}
	if g := groupOf(f, srv); g != nil {
		fmt.Fprintf(h, "group %s %d\n", g.Metadata.UID, g.Metadata.Generation) // and not its status
	}
	for _, name := range EnvSecretsOf(f, srv) {
		fmt.Fprintf(h, "secret %s %s\n", name, f.Env.SecretVersions[name])
	}
	for _, key := range EnvImageKeys(f, srv, env) {
		fmt.Fprintf(h, "image %s %s\n", key.Reference, f.Env.Images[key].Digest)
	}
	return fmt.Sprintf("%s %x", f.RackOf(srv.Metadata.Name), h.Sum(nil))
}

// EnvShared names what all bundles read: Templates, Params and uploaded files.
func EnvShared(e Environments) string {
	h := sha256.New()
	for _, t := range e.Templates {
		fmt.Fprintf(h, "template %s %d\n", t.Metadata.UID, t.Metadata.Revision)
	}
	for _, p := range e.Params {
		fmt.Fprintf(h, "param %s %d\n", p.Metadata.UID, p.Metadata.Revision)
	}
	for _, file := range slices.Sorted(maps.Keys(e.ISOs)) {
		fmt.Fprintf(h, "iso %q %s %s\n", file, e.ISOs[file].Digest, e.ISOs[file].Sum())
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// archsFor are what a description has for an architecture: its own entries, by any
// spelling of dr-provision, and the legacy fields of amd64.
func archsFor(os resource.EnvOS, arch string) []resource.EnvArch {
	var out []resource.EnvArch
	if arch == "amd64" {
		out = append(out, resource.EnvArch{IsoFile: os.IsoFile})
	}
	for _, key := range slices.Sorted(maps.Keys(os.SupportedArchitectures)) {
		if spelledAs(strings.ToLower(key)) == arch {
			out = append(out, os.SupportedArchitectures[key])
		}
	}
	return out
}

func spelledAs(arch string) string {
	switch arch {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return arch
}
