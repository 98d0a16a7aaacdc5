package protocol

// Head orders the versions of one document. A hub restored from a backup takes
// a higher epoch, so that its documents win over what the lost hub had sent.
type Head struct {
	Epoch   uint64 `json:"epoch"`
	Version uint64 `json:"version"`
}

// Newer says whether h replaces o.
func (h Head) Newer(o Head) bool {
	return h.Epoch > o.Epoch || (h.Epoch == o.Epoch && h.Version > o.Version)
}
