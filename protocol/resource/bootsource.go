package resource

import "strings"

// ImageFrom names where an image is taken from, in place of an image of one's own.
type ImageFrom struct {
	// Group names a ServerGroup: what is its current revision when the server is first
	// booted, with the group's user data if the claim names none.
	Group string `json:"group"`
}

// checkBootSource wants exactly one of an OCI reference, a group's image and a boot
// environment, and one that can be booted by the first boot's method.
func checkBootSource(f *fields, path, image string, from *ImageFrom, env *Ref, first FirstBoot) {
	given := 0
	for _, is := range []bool{image != "", from != nil, env != nil} {
		if is {
			given++
		}
	}
	if env != nil && first == FirstBootVirtualMedia {
		f.Add(path+".bootPolicy.firstBoot", "VirtualMedia boots an ISO of its own, and no boot environment; use %s or %s", FirstBootPxe, FirstBootUefiHTTP)
	}
	switch {
	case given != 1:
		f.Add(path, "give exactly one of image, imageFrom and bootEnv")
	case from != nil:
		f.name(path+".imageFrom.group", from.Group)
	case env != nil:
		f.name(path+".bootEnv.name", env.Name)
	case BootImageName(image) != "":
		f.name(path+".image", BootImageName(image))
	case strings.ContainsAny(image, " \t\n"):
		f.Add(path+".image", "%q is not an OCI reference such as registry.example/os:1", image)
	}
}

// bootEnvReference is the boot environment, if one is named.
func bootEnvReference(path string, r *Ref) []Reference {
	if r == nil {
		return nil
	}
	return []Reference{{path + ".name", KindBootEnv, r.Name}}
}

// groupReference is the group whose image is taken, if one is named.
func groupReference(path string, from *ImageFrom) []Reference {
	if from == nil {
		return nil
	}
	return []Reference{{path + ".group", KindServerGroup, from.Group}}
}

// BootImagePrefix begins the name of an entry of the catalogue where an image is named. It
// is no OCI reference, which has a tag or a digest.
const BootImagePrefix = "bootimage/"

// BootImageName is the entry of the catalogue that a reference of a claim names; empty for
// an OCI reference.
func BootImageName(reference string) string {
	name, is := strings.CutPrefix(reference, BootImagePrefix)
	if !is || strings.ContainsAny(name, ":@/") {
		return ""
	}
	return name
}

// bootImageReference is the entry of the catalogue, if an image names one.
func bootImageReference(path, image string) []Reference {
	name := BootImageName(image)
	if name == "" {
		return nil
	}
	return []Reference{{path, KindBootImage, name}}
}
