package store

import "rackboot/protocol/resource"

// credentials checks that the Secret of a credentialsRef is one of an account; that it
// exists is checked elsewhere.
func (c *checker) credentials(i int, path, ref string, lookup func(resource.Kind, string) resource.Object) {
	name := resource.SecretOf(ref)
	if secret, ok := lookup(resource.KindSecret, name).(*resource.Secret); ok && name != "" && secret.Spec.Type != resource.SecretBMC {
		c.add(i, path, "Secret %q is of type %s, not %s", name, secret.Spec.Type, resource.SecretBMC)
	}
}

// ignition checks that a Secret that is named for user data is one; that it exists is
// checked elsewhere.
func (c *checker) ignition(i int, path string, ref *resource.Ref, lookup func(resource.Kind, string) resource.Object) {
	if ref == nil {
		return
	}
	if secret, ok := lookup(resource.KindSecret, ref.Name).(*resource.Secret); ok && secret.Spec.Type != resource.SecretIgnition {
		c.add(i, path, "Secret %q is of type %s, not %s", ref.Name, secret.Spec.Type, resource.SecretIgnition)
	}
}

// managedStub keeps people from writing what the hub translates, and the hub from
// writing what is people's.
func (c *checker) managedStub(i int, old resource.Object, next *resource.Secret, managed bool) {
	ours := old != nil && old.Head().Metadata.Annotations[AnnotationManagedStub] != ""
	switch of := next.Metadata.Annotations[AnnotationManagedStub]; {
	case managed && old != nil && !ours:
		c.addConflict(i, "metadata.name", "Secret %q is there, and not the hub's: rename it, or name another one in spec.stub", next.Metadata.Name)
	case !managed && ours:
		c.add(i, "metadata.name", "the hub makes this Secret from %q; change that one", old.Head().Metadata.Annotations[AnnotationManagedStub])
	case !managed && of != "":
		c.add(i, "metadata.annotations", "%s is the hub's", AnnotationManagedStub)
	}
}
