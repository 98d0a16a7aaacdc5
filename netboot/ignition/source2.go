package ignition

// judge refuses what specification 3 cannot say, notes what would be lost, and changes
// what has other words there. Nothing is looked at again after the first refusal.
func (s *source) judge() *Refusal {
	for _, step := range []func(){s.judgeReferences, s.judgeNetworkd, s.judgeFilesystems, s.judgeInodes, s.judgeUnits, s.judgeDisks, s.judgeUsers} {
		if step(); s.refused != nil {
			return s.refused
		}
	}
	return nil
}

func (s *source) judgeNetworkd() {
	if len(s.stub.Networkd.Units) > 0 {
		s.refuse(UsesNetworkd, "$.networkd.units", "is not known to specification 3; write the units as files below /etc/systemd/network")
	}
}

const noSource = "has no source"

func (s *source) judgeReferences() {
	ign := &s.stub.Ignition
	for i := range ign.Config.Append {
		s.judgeReference("$.ignition.config.append["+itoa(i)+"]", &ign.Config.Append[i])
	}
	if ign.Config.Replace != nil {
		s.judgeReference("$.ignition.config.replace", ign.Config.Replace)
	}
	for i := range ign.Security.TLS.CertificateAuthorities {
		s.judgeReference(authorityPath(i), &ign.Security.TLS.CertificateAuthorities[i])
	}
}

func (s *source) judgeReference(at string, r *reference2) {
	if r.Source == "" {
		s.refuse(Invalid, at+".source", noSource)
	}
	s.judgeHeaders(at, r.Headers)
}

// judgeUnits refuses units and drop-ins that are there twice. Specification 2 writes them
// over each other; which of them was meant nobody knows.
func (s *source) judgeUnits() {
	units := map[string]bool{}
	for i := range s.stub.Systemd.Units {
		u := &s.stub.Systemd.Units[i]
		at := "$.systemd.units[" + itoa(i) + "]"
		if units[u.Name] {
			s.refuse(DuplicateUnit, at+".name", "is the name of an earlier unit too")
		}
		units[u.Name] = true
		dropins := map[string]bool{}
		for j, d := range u.Dropins {
			if dropins[d.Name] {
				s.refuse(DuplicateDropin, at+".dropins["+itoa(j)+"].name", "is the name of an earlier drop-in of the unit too")
			}
			dropins[d.Name] = true
		}
		if u.Enable && u.Enabled == nil { // the deprecated word, which enabled overrules
			u.Enabled = &u.Enable
		}
	}
}

func (s *source) judgeUsers() {
	for i := range s.stub.Passwd.Users {
		u := &s.stub.Passwd.Users[i]
		if u.Create != nil {
			s.lose("$.passwd.users["+itoa(i)+"].create", "how the account is made; write its fields into the user itself")
		}
		if s.minor == 0 && u.PasswordHash != nil && *u.PasswordHash == "" {
			u.PasswordHash = nil // 2.0 did not tell them apart
		}
	}
}
