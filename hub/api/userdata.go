package api

import (
	"slices"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// names judges the Secrets of user data and params that a resource newly names: whoever
// has a scope could have a server of its own given what is another's. Only who may do
// everything writes Secrets, so that their labels say whose they are, and they must be in
// the scope.
func names(objects *store.Objects, who access.Caller, op access.Operation, old, next resource.Object, set []resource.Object) error {
	if who.Scope.Everywhere() {
		return nil
	}
	was := secretsOf(objects, old)
	for _, name := range secretsOf(objects, next) {
		if slices.Contains(was, name) {
			continue
		}
		var labels access.Labels // nil is nowhere
		if secret, err := objects.Get(resource.KindSecret, name); err == nil {
			labels = secret.Head().Metadata.Labels
		}
		for _, o := range set { // of the same set, which the caller may not write
			if h := o.Head(); h.Kind == resource.KindSecret && h.Metadata.Name == name {
				labels = nil
			}
		}
		if v := access.May(who, op, access.Target{Places: []access.Labels{labels}}); v != access.Allowed {
			return route.Denied(who, op, v, "Secret "+name)
		}
	}
	return nil
}

// secretsOf are the Secrets whose content a server is given by what names them: user data
// of a claim or a maintenance, and params of a server and of the profiles that it names.
// Every server has the profile global, whoever writes it.
func secretsOf(objects *store.Objects, obj resource.Object) (names []string) {
	add := func(ref *resource.Ref) {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	switch o := obj.(type) {
	case *resource.Claim:
		if o != nil {
			add(o.Spec.IgnitionSecretRef)
		}
	case *resource.Maintenance:
		if o != nil {
			add(o.Spec.Boot.IgnitionSecretRef)
		}
	case *resource.Server:
		if o == nil {
			return nil
		}
		add(o.Spec.ParamsSecretRef)
		for _, name := range o.Spec.Profiles {
			if p, err := store.Peek[*resource.Profile](objects, name); err == nil {
				add(p.Spec.ParamsSecretRef)
			}
		}
	}
	return names
}
