package store

import (
	"unique"

	"rackboot/protocol/resource"
)

// sameText has what thousands of resources say in the same words be in memory once: an image's
// digests, which each configuration names three times.
func sameText(obj resource.Object) {
	switch o := obj.(type) {
	case *resource.BootConfiguration:
		img := &o.Spec.Image
		once(&img.Reference)
		once(&img.Digest)
		once(&img.Architecture)
		for i := range img.Artefacts {
			a := &img.Artefacts[i]
			once(&a.Kind)
			once(&a.Digest)
			once(&a.MediaType)
		}
		if p := o.Status.Provisioned; p != nil {
			once(&p.ImageDigest)
		}
	case *resource.Claim:
		once(&o.Spec.Image)
	case *resource.BMC:
		once(&o.Spec.CredentialsRef)
	}
	once(&obj.Head().Kind)
	once(&obj.Head().APIVersion)
}

func once[T ~string](s *T) {
	if *s != "" {
		*s = T(unique.Make(string(*s)).Value())
	}
}
