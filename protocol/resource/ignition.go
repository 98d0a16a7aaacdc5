package resource

// TypeIgnition is the media type of an Ignition configuration.
const TypeIgnition = "application/vnd.coreos.ignition+json"

// MaxIgnition bounds user data as a server gets it, in bytes. What a Secret may have is
// less, see [MaxSecretValue].
const MaxIgnition = 1 << 20

// IgnitionRef is one version of a Secret of type ignition, as a boot configuration fixes
// it when it is made.
type IgnitionRef struct {
	Secret  string `json:"secret"`
	UID     string `json:"uid"` // of the Secret
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // status.digest of the Secret: an HMAC
}

// check reports a wrong reference to user data.
func (r *Ref) checkIgnition(f *fields, path string) {
	if r != nil {
		f.name(path+".name", r.Name)
	}
}

// ignitionReference is the Secret of user data, if there is one.
func ignitionReference(path string, r *Ref) []Reference {
	if r == nil {
		return nil
	}
	return []Reference{{path + ".name", KindSecret, r.Name}}
}
