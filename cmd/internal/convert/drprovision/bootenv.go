package drprovision

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

// calls finds the names of templates within a template, in the forms that dr-provision has for them.
var calls = regexp.MustCompile(`(\btemplate\s+|\.CallTemplate\s+)(["` + "`" + `])([^"` + "`" + `]*)(["` + "`" + `])`)

// text is the text of a template with fitted names in it, and says so of its field.
func (r *room) text(f convert.Field, to string) string {
	was := f.Text()
	out := calls.ReplaceAllStringFunc(was, func(call string) string {
		m := calls.FindStringSubmatch(call)
		if fitted, known := r.templates[m[3]]; known {
			return m[1] + m[2] + fitted + m[4]
		}
		return call
	})
	if out == was {
		f.Taken(to)
	} else {
		f.Changed(convert.TemplateRenamed, to)
	}
	return out
}

func (r *room) template(p part) {
	id := p.named("ID")
	name := convert.Name(id)
	to := convert.ID(resource.KindTemplate, name)
	switch {
	case name == "":
		p.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindTemplate, name):
		p.Refuse(convert.Duplicate)
		return
	}
	kept(p)
	p.Field("ID").Named(name, convert.At(to, "metadata.name"))
	t := &resource.Template{Spec: resource.TemplateSpec{Description: p.Field("Description").Text(), Contents: r.text(p.Field("Contents"), convert.At(to, "spec.contents"))}}
	t.Metadata.Name = name
	p.Field("Description").Taken(convert.At(to, "spec.description"))
	for _, f := range []string{"StartDelimiter", "EndDelimiter"} {
		p.Field(f).NoEqual(convert.ByHand)
	}
	r.c.Add(t)
}

func (r *room) bootEnv(p part) {
	was := p.named("Name")
	name := convert.Name(was)
	to := convert.ID(resource.KindBootEnv, name)
	switch {
	case name == "":
		p.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindBootEnv, name):
		p.Refuse(convert.Duplicate)
		return
	}
	kept(p)
	p.Field("Name").Named(name, convert.At(to, "metadata.name"))
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{
		Description: p.Field("Description").Text(), Documentation: p.Field("Documentation").Text(), OnlyUnknown: p.Field("OnlyUnknown").Bool(),
		RequiredParams: p.Field("RequiredParams").Texts(), OptionalParams: p.Field("OptionalParams").Texts(),
		Kernel: trimmed(p.Field("Kernel"), convert.At(to, "spec.kernel")), Initrds: trimmedEach(p.Field("Initrds"), convert.At(to, "spec.initrds")),
		BootParams: r.text(p.Field("BootParams"), convert.At(to, "spec.bootParams")),
	}}
	e.Metadata.Name = name
	for field, spec := range map[string]string{"Description": "description", "Documentation": "documentation", "OnlyUnknown": "onlyUnknown"} {
		p.Field(field).Taken(convert.At(to, "spec."+spec))
	}
	p.Field("RequiredParams").Each(convert.At(to, "spec.requiredParams"))
	p.Field("OptionalParams").Each(convert.At(to, "spec.optionalParams"))
	loaders := p.Field("Loaders")
	for _, k := range loaders.Keys() {
		if e.Spec.Loaders == nil {
			e.Spec.Loaders = map[resource.LoaderKey]string{}
		}
		e.Spec.Loaders[resource.LoaderKey(k)] = trimmed(loaders.Field(k), convert.At(to, "spec.loaders."+k))
	}
	r.system(p.Field("OS"), &e.Spec.OS, convert.At(to, "spec.os"))
	for i, t := range p.Field("Templates").Items() {
		e.Spec.Templates = append(e.Spec.Templates, r.entry(t, to, i))
	}
	r.c.Add(e)
}

// system is the operating system of an environment, with what it has for each architecture.
func (r *room) system(f convert.Field, os *resource.EnvOS, to string) {
	for field, dest := range map[string]struct {
		to   *string
		name string
	}{
		"Name": {&os.Name, "name"}, "Family": {&os.Family, "family"}, "Codename": {&os.Codename, "codename"}, "Version": {&os.Version, "version"},
		"IsoFile": {&os.IsoFile, "isoFile"}, "IsoSha256": {&os.IsoSha256, "isoSha256"}, "IsoUrl": {&os.IsoURL, "isoUrl"},
	} {
		*dest.to = f.Field(field).Text()
		f.Field(field).Taken(to + "." + dest.name)
	}
	all := f.Field("SupportedArchitectures")
	for _, arch := range all.Keys() {
		a := all.Field(arch)
		if goarch, known := convert.Architecture(arch); known && !all.Field(goarch).There() {
			arch = goarch // of older content: x86_64
		}
		at := to + ".supportedArchitectures." + arch
		out := resource.EnvArch{
			Initrds: trimmedEach(a.Field("Initrds"), at+".initrds"), Kernel: trimmed(a.Field("Kernel"), at+".kernel"), Loader: trimmed(a.Field("Loader"), at+".loader"),
			BootParams: r.text(a.Field("BootParams"), at+".bootParams"),
			IsoFile:    a.Field("IsoFile").Text(), Sha256: a.Field("Sha256").Text(), IsoURL: a.Field("IsoUrl").Text(),
		}
		for field, name := range map[string]string{"IsoFile": "isoFile", "Sha256": "sha256", "IsoUrl": "isoUrl"} {
			a.Field(field).Taken(at + "." + name)
		}
		if os.SupportedArchitectures == nil {
			os.SupportedArchitectures = map[string]resource.EnvArch{}
		}
		os.SupportedArchitectures[arch] = out
	}
}

// entry is one template of an environment.
func (r *room) entry(f convert.Field, env string, i int) resource.EnvTemplate {
	at := convert.At(env, fmt.Sprintf("spec.templates[%d]", i))
	id := f.Field("ID").Text()
	out := resource.EnvTemplate{
		Name: f.Field("Name").Text(), Path: trimmed(f.Field("Path"), at+".path"), Link: trimmed(f.Field("Link"), at+".link"),
		Contents: r.text(f.Field("Contents"), at+".contents"), ID: convert.Name(id),
	}
	f.Field("Name").Taken(at + ".name")
	f.Field("ID").Named(out.ID, at+".id")
	if out.ID != "" {
		r.wants = append(r.wants, want{env, fmt.Sprintf("spec.templates[%d].id", i), convert.ID(resource.KindTemplate, out.ID)})
	}
	meta := f.Field("Meta")
	for _, k := range meta.Keys() {
		if out.Meta == nil {
			out.Meta = map[string]string{}
		}
		out.Meta[k] = meta.Field(k).Text()
		meta.Field(k).Taken(at + ".meta." + k)
	}
	return out
}

func (r *room) param(p part) {
	was := p.named("Name")
	name := convert.Name(was)
	to := convert.ID(resource.KindParam, name)
	switch {
	case name == "":
		p.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindParam, name):
		p.Refuse(convert.Duplicate)
		return
	}
	kept(p)
	out := &resource.Param{Spec: resource.ParamSpec{Name: was, Description: p.Field("Description").Text(), Schema: p.Field("Schema").Value()}}
	out.Metadata.Name = name
	if out.Spec.Schema == nil {
		out.Spec.Schema = true
	}
	p.Field("Name").Taken(convert.At(to, "spec.name"))
	p.Field("Description").Taken(convert.At(to, "spec.description"))
	p.Field("Schema").Copied(convert.At(to, "spec.schema"))
	p.Field("Documentation").NoEqual(convert.AssetData)
	if secure := p.Field("Secure"); secure.Bool() {
		secure.NoEqual(convert.ByHand)
	} else {
		secure.Taken()
	}
	r.c.Add(out)
}

func (r *room) profile(p part) {
	name := convert.Name(p.named("Name"))
	to := convert.ID(resource.KindProfile, name)
	switch {
	case name == "":
		p.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindProfile, name):
		p.Refuse(convert.Duplicate)
		return
	}
	kept(p)
	p.Field("Name").Named(name, convert.At(to, "metadata.name"))
	out := &resource.Profile{Spec: resource.ProfileSpec{Description: p.Field("Description").Text()}}
	out.Metadata.Name = name
	p.Field("Description").Taken(convert.At(to, "spec.description"))
	p.Field("Documentation").NoEqual(convert.AssetData)
	p.Field("Profiles").NoEqual(convert.ByHand)
	params := p.Field("Params")
	out.Spec.Params, out.Spec.ParamsSecretRef = r.values(params, params.Keys(), to, name+"-params")
	r.c.Add(out)
}

// values are params, of which those that are named for a secret, and are texts, go to a Secret.
func (r *room) values(params convert.Field, keys []string, to, secret string) (map[string]any, *resource.Ref) {
	plain, hidden := map[string]any{}, resource.SecretData{}
	for _, k := range keys {
		f := params.Field(k)
		text, isText := f.Value().(string)
		switch {
		case encrypted(f):
			f.NoEqual(convert.ByHand)
		case secretive(k) && isText && text != "":
			hidden[k] = resource.Plain(text)
		case secretive(k) && f.Value() != nil:
			f.NoEqual(convert.ByHand)
		default:
			plain[k] = f.Value()
			f.Copied(convert.At(to, "spec.params."+k))
		}
	}
	if len(hidden) == 0 {
		return empty(plain), nil
	}
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretParams, Data: hidden}}
	s.Metadata.Name = convert.Name(secret)
	id := convert.ID(resource.KindSecret, s.Metadata.Name)
	added := r.c.Add(s)
	for _, k := range slices.Sorted(maps.Keys(hidden)) {
		if added {
			params.Field(k).Changed(convert.ToSecret, convert.At(id, "spec.data."+k))
		} else {
			params.Field(k).Refused(convert.Duplicate)
		}
	}
	if !added {
		return empty(plain), nil
	}
	return empty(plain), &resource.Ref{Name: s.Metadata.Name}
}

func empty(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// encrypted reports whether a value is one that only the server that wrote it can read.
func encrypted(f convert.Field) bool {
	return f.Field("Key").There() && f.Field("Nonce").There() && f.Field("Payload").There()
}
