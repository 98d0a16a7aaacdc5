package store

import (
	"maps"
	"slices"

	"rackboot/protocol/resource"
)

// lookup finds a resource in what is applied, and else in the store; nil is none.
type lookup func(resource.Kind, string) resource.Object

// environments checks what the set has of boot environments.
func (c *checker) environments(items []applyItem, find lookup) {
	described := c.described(items)
	for i, it := range items {
		c.judge(&items[i])
		switch next := it.next.(type) {
		case *resource.Param:
			c.param(i, next, items)
		case *resource.Profile:
			c.paramsSecret(i, next.Spec.ParamsSecretRef, find)
			c.values(i, next.Spec.Params, described)
		case *resource.Server:
			c.paramsSecret(i, next.Spec.ParamsSecretRef, find)
			c.values(i, next.Spec.Params, described)
		case *resource.ServerGroup:
			c.values(i, next.Spec.Params, described)
		case *resource.Template:
			if c.sets.rules != nil {
				if err := c.sets.rules.Template(next.Metadata.Name, next.Spec.Contents); err != nil {
					c.add(i, "spec.contents", "%s", err)
				}
			}
		case *resource.BootEnv:
			c.bootEnv(i, next, find)
			c.bootEnvUse(i, next, items)
		case *resource.Claim:
			c.bootEnvOf(i, "spec.bootEnv.name", next.Spec.BootEnv, resource.PurposeClaim, find)
		case *resource.Maintenance:
			c.bootEnvOf(i, "spec.boot.bootEnv.name", next.Spec.Boot.BootEnv, resource.PurposeMaintenance, find)
		case *resource.Rack:
			if d := next.Spec.Discovery; d != nil {
				c.bootEnvOf(i, "spec.discovery.bootEnv.name", d.BootEnv, resource.PurposeDiscovery, find)
			}
		}
	}
}

// describes finds a param by its name, as it would be after the set.
type describes func(name string) (resource.ParamSpec, bool)

func (c *checker) described(items []applyItem) describes {
	inSet, replaced := map[string]*resource.Param{}, map[string]bool{}
	for _, it := range items {
		if p, ok := it.next.(*resource.Param); ok {
			inSet[p.Spec.Name], replaced[p.Metadata.Name] = p, true
		}
	}
	return func(name string) (resource.ParamSpec, bool) {
		if p, ok := inSet[name]; ok {
			c.judging[keyOf(resource.KindParam, p.Metadata.Name)] = 0 // it is known when it is written
			return p.Spec, true
		}
		for _, p := range Find(c.sets.objects, ParamsByName, name) {
			if !replaced[p.Metadata.Name] {
				c.stored(resource.KindParam, p.Metadata.Name)
				return p.Spec, true
			}
		}
		c.judging[ruleBucket+".param."+digest(name)] = 0 // nobody describes it
		return resource.ParamSpec{}, false
	}
}

// param checks a description: its schema, that no other describes the same, and that the
// values that there are fit it. Those that do not are named, and nothing is changed:
// correct them in the same set, or before.
func (c *checker) param(i int, next *resource.Param, items []applyItem) {
	others := map[string]resource.Object{}
	for _, by := range []string{string(ParamsByName), string(ProfilesByParam), string(ServersByParam), string(GroupsByParam)} {
		for _, e := range c.sets.core.mirror.find(by, term{word: next.Spec.Name}) {
			others[e.Key] = e.obj
		}
	}
	for _, it := range items { // which are checked themselves
		h := it.next.Head()
		if p, ok := it.next.(*resource.Param); ok && p != next {
			others[keyOf(h.Kind, h.Metadata.Name)] = p
			continue
		}
		delete(others, keyOf(h.Kind, h.Metadata.Name))
	}
	if c.sets.rules != nil {
		if err := c.sets.rules.Param(next.Spec); err != nil {
			c.add(i, "spec.schema", "%s", err)
			return
		}
	}
	var unfit []string
	for _, key := range slices.Sorted(maps.Keys(others)) {
		obj := others[key]
		var values map[string]any
		switch o := obj.(type) {
		case *resource.Param:
			if o.Spec.Name == next.Spec.Name {
				c.add(i, "spec.name", "Param %q describes %s already", o.Metadata.Name, next.Spec.Name)
			}
			continue
		case *resource.Profile:
			values = o.Spec.Params
		case *resource.Server:
			values = o.Spec.Params
		case *resource.ServerGroup:
			values = o.Spec.Params
		}
		if v, ok := values[next.Spec.Name]; ok && c.sets.rules != nil && c.sets.rules.Value(next.Spec, v) != nil {
			unfit = append(unfit, string(obj.Head().Kind)+"/"+obj.Head().Metadata.Name)
		}
	}
	if len(unfit) > 0 {
		c.add(i, "spec.schema", "the values of %s do not fit it; correct them in what is applied, or before", joined(unfit))
	}
}

func (c *checker) values(i int, values map[string]any, described describes) {
	if c.sets.rules == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		wrong := c.sets.rules.Typed(name, values[name])
		for _, w := range wrong {
			c.add(i, "spec.params."+name+w.Path, "%s", w.Message)
		}
		if p, ok := described(name); ok && len(wrong) == 0 {
			if err := c.sets.rules.Value(p, values[name]); err != nil {
				c.add(i, "spec.params."+name, "%s", err)
			}
		}
	}
}

// paramsSecret checks that a Secret that is named for params is one; that it exists is
// checked elsewhere.
func (c *checker) paramsSecret(i int, ref *resource.Ref, find lookup) {
	if ref == nil {
		return
	}
	if s, ok := find(resource.KindSecret, ref.Name).(*resource.Secret); ok && s.Spec.Type != resource.SecretParams {
		c.add(i, "spec.paramsSecretRef.name", "Secret %q is of type %s, not %s", ref.Name, s.Spec.Type, resource.SecretParams)
	}
}

func (c *checker) bootEnv(i int, next *resource.BootEnv, find lookup) {
	if c.sets.rules == nil || len(c.errs[i].FieldErrors) > 0 {
		return
	}
	c.addAll(i, c.sets.rules.BootEnv(next, func(name string) (string, bool) {
		t, ok := find(resource.KindTemplate, name).(*resource.Template)
		if !ok {
			return "", false
		}
		return t.Spec.Contents, true
	}))
}

// bootEnvRefused says why an environment is not for a purpose; empty if it is. The first
// row that fits decides.
//
//	purpose     | onlyUnknown | destructive | refused
//	discovery   | no          | *           | it is not for discovery
//	discovery   | yes         | *           | no
//	*           | yes         | *           | it is for discovery
//	maintenance | no          | *           | no
//	claim       | no          | yes         | it discards disks
//	claim       | no          | no          | no
func bootEnvRefused(p resource.Purpose, onlyUnknown, destructive bool) string {
	switch {
	case p == resource.PurposeDiscovery && !onlyUnknown:
		return "it is not for discovery: that boots environments with onlyUnknown"
	case p == resource.PurposeDiscovery:
		return ""
	case onlyUnknown:
		return "it is for discovery alone (onlyUnknown)"
	case p == resource.PurposeClaim && destructive:
		return "it discards disks (destructive), and is booted by a Maintenance"
	}
	return ""
}

func (c *checker) bootEnvOf(i int, path string, ref *resource.Ref, p resource.Purpose, find lookup) {
	if ref == nil {
		return
	}
	if e, ok := find(resource.KindBootEnv, ref.Name).(*resource.BootEnv); ok {
		if why := bootEnvRefused(p, e.Spec.OnlyUnknown, e.Spec.Destructive); why != "" {
			c.add(i, path, "BootEnv %q cannot be named here: %s", ref.Name, why)
		}
	}
}

// bootEnvUse checks that an environment stays what those need that name it and are not
// in the set.
func (c *checker) bootEnvUse(i int, next *resource.BootEnv, items []applyItem) {
	inSet := map[string]bool{}
	for _, it := range items {
		inSet[string(it.next.Head().Kind)+"/"+it.next.Head().Metadata.Name] = true
	}
	for _, use := range []struct {
		kind    resource.Kind
		purpose resource.Purpose
	}{{resource.KindClaim, resource.PurposeClaim}, {resource.KindMaintenance, resource.PurposeMaintenance}, {resource.KindRack, resource.PurposeDiscovery}} {
		why := bootEnvRefused(use.purpose, next.Spec.OnlyUnknown, next.Spec.Destructive)
		if why == "" {
			continue
		}
		who := slices.DeleteFunc(c.sets.objects.referring(resource.KindBootEnv, next.Metadata.Name, use.kind), func(s string) bool { return inSet[s] })
		if len(who) > 0 {
			c.add(i, "spec", "%s cannot go on naming it: %s; name another there first", joined(who), why)
		}
	}
}
