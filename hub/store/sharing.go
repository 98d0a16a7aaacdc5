package store

import (
	"rackboot/hub/once"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// read decodes an entry for the mirror. What thousands of resources say in the same words is in memory once: of a server's
// configuration all but its names, since a fleet boots few images.
func (co *core) read(e state.Entry) (cached, error) {
	c, err := read(e)
	if c.obj == nil {
		return c, err
	}
	share(co.said, c.obj)
	if _, name := split(e.Key); c.obj.Head().Metadata.Name == name {
		c.obj.Head().Metadata.Name = name // which is in memory with the key
	}
	return c, err
}

func share(said *once.Table, obj resource.Object) {
	said.Texts(obj)
	m := &obj.Head().Metadata
	once.Map(said, &m.Labels)
	once.Map(said, &m.Annotations)
	if b, ok := obj.(*resource.BootConfiguration); ok {
		once.List(said, &b.Spec.Image.Artefacts)
	}
}
