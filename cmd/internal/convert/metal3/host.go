package metal3

import (
	"maps"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/kube"
	"rackboot/protocol/resource"
)

const group = "metal3.io"

// Convert reads what kubectl get -o yaml, or json, writes of hosts, Secrets and the like.
func Convert(c *convert.Conversion, files []convert.File) error {
	all, err := kube.Items(c, files)
	if err != nil {
		return err
	}
	r := room{c: c, secrets: map[string]*kube.Item{}, used: map[*kube.Item]bool{}}
	for _, it := range all {
		if it.Core() && it.Kind == "Secret" {
			r.secrets[it.Namespace+"/"+it.Name] = it
		}
	}
	for _, it := range all {
		if it.Is(group, "BareMetalHost") {
			r.host(it)
			it.Close()
		}
	}
	for _, it := range all {
		switch {
		case it.Is(group, "BareMetalHost"):
			continue
		case it.Core() && it.Kind == "Secret" && r.used[it]:
		default:
			it.Whole().NoEqual(other(it))
		}
		it.Close()
	}
	return nil
}

// other is what is said of objects that are not converted.
func other(it *kube.Item) convert.Code {
	switch {
	case it.Core() && it.Kind == "Secret":
		return convert.NotManaged
	case it.Is(group, "HostFirmwareSettings"), it.Is(group, "HostFirmwareComponents"), it.Is(group, "HostUpdatePolicy"):
		return convert.FirmwareSetting
	case it.Is(group, "HardwareData"), it.Is(group, "FirmwareSchema"), it.Is(group, "PreprovisioningImage"):
		return convert.Observed
	}
	return convert.UnknownKind
}

// room is one conversion.
type room struct {
	c       *convert.Conversion
	secrets map[string]*kube.Item
	used    map[*kube.Item]bool
}

func (r *room) host(it *kube.Item) {
	name := convert.Name(it.Name)
	spec := it.Field("spec")
	arch, known := convert.Architecture(spec.Field("architecture").Text())
	switch {
	case name == "":
		it.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindServer, name):
		it.Refuse(convert.Duplicate)
		return
	case spec.Field("bootMode").Text() == "legacy":
		it.Refuse(convert.LegacyBIOS)
		return
	case spec.Field("architecture").Text() != "" && !known:
		it.Refuse(convert.OtherMachine)
		return
	}
	server := convert.ID(resource.KindServer, name)
	it.Head(server, name)
	m := convert.Machine{Name: name, Labels: it.Labels(server), Architecture: arch, Annotations: it.Annotations(server, annotation)}
	spec.Field("architecture").Spelled(arch, convert.At(server, "spec.architecture"))
	first := r.controller(it, &m)
	r.hardware(spec, server, &m)
	r.c.Machine(m)
	r.claim(it, name, first)
	r.rest(spec)
}

// annotation reports whether an annotation is kept: reboot annotations with a key act here as there.
func annotation(key string, f convert.Field) bool {
	switch {
	case key == resource.AnnotationReboot:
		f.Meant(convert.OneShot)
	case strings.HasPrefix(key, resource.AnnotationReboot+"/"):
		if _, err := resource.ParseRebootAnnotation(key, f.Text()); err != nil {
			f.Refused(convert.BadValue)
			return false
		}
		return true
	case key == "baremetalhost.metal3.io/paused", key == "baremetalhost.metal3.io/detached":
		f.Meant(convert.Pause)
	case key == "inspect.metal3.io":
		f.NoEqual(convert.Inspection)
	case strings.HasPrefix(key, "inspect.metal3.io/"), key == "baremetalhost.metal3.io/status":
		f.NoEqual(convert.Observed)
	default:
		return true
	}
	return false
}

// hardware is how firmware sees the server, and its disks.
func (r *room) hardware(spec convert.Field, server string, m *convert.Machine) {
	boot := spec.Field("bootMACAddress")
	if mac, ok := convert.MAC(boot.Text()); ok {
		m.BootMAC = mac
		boot.Spelled(mac, convert.At(server, "spec.bootMAC"))
	} else if boot.Text() != "" {
		boot.Refused(convert.BadValue)
	}
	switch mode := spec.Field("bootMode"); mode.Text() {
	case "UEFI":
		mode.Taken(convert.At(server, "spec.bootMode"))
	case "UEFISecureBoot":
		mode.NoEqual(convert.FirmwareSetting)
	}
	off := spec.Field("disablePowerOff")
	m.NoPowerOff = off.Bool()
	off.Taken(convert.At(server, "spec.disablePowerOff"))
	hints := spec.Field("rootDeviceHints")
	for _, k := range hints.Keys() {
		if f := hints.Field(k); k == "deviceName" && f.Text() != "" {
			m.Params = map[string]any{"install/disk": f.Text()}
			f.Changed(convert.ToParam, convert.At(server, "spec.params.install/disk"))
		} else {
			f.NoEqual(convert.RootDevice)
		}
	}
	if f := spec.Field("description"); f.Text() != "" {
		m.Annotations = with(m.Annotations, "description", f.Text())
		f.Changed(convert.ToAnnotation, convert.At(server, "metadata.annotations.description"))
	}
	if f := spec.Field("failureDomain"); f.Text() != "" {
		m.Labels = with(m.Labels, "failureDomain", f.Text())
		f.Changed(convert.ToLabel, convert.At(server, "metadata.labels.failureDomain"))
	}
}

// with is a map with one entry more, unless the key is there.
func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	if _, there := m[key]; !there {
		m[key] = value
	}
	return m
}

// claim makes a Claim of a host that has an image, where it is said what the server boots instead.
func (r *room) claim(it *kube.Item, name string, first resource.FirstBoot) {
	spec, set := it.Field("spec"), r.c.Settings
	online, image, user := spec.Field("online"), spec.Field("image"), spec.Field("userData")
	wanted := image.There() && image.Value() != nil || spec.Field("customDeploy").There()
	if !wanted || set.Image == "" && set.BootEnv == "" {
		image.NoEqual(convert.DiskImage)
		spec.Field("customDeploy").NoEqual(convert.DiskImage)
		online.NoEqual(convert.NoClaim)
		user.NoEqual(convert.NoClaim)
		return
	}
	claim := convert.ID(resource.KindClaim, name)
	cl := &resource.Claim{Spec: resource.ClaimSpec{ServerRef: &resource.Ref{Name: name}, Power: resource.WantOff, Image: set.Image}}
	cl.Metadata.Name = name
	if set.BootEnv != "" {
		cl.Spec.BootEnv = &resource.Ref{Name: set.BootEnv}
		if first == resource.FirstBootVirtualMedia { // boots an ISO of its own only
			first = resource.FirstBootUefiHTTP
		}
	}
	cl.Spec.BootPolicy.FirstBoot = first
	if first != "" {
		spec.Field("bmc", "address").Changed(convert.ToFirstBoot, convert.At(claim, "spec.bootPolicy.firstBoot"))
	}
	if online.Bool() {
		cl.Spec.Power = resource.WantOn
	}
	online.Changed(convert.ToClaim, convert.At(claim, "spec.power"))
	for _, f := range []string{"url", "checksum", "checksumType", "format"} {
		image.Field(f).Changed(convert.ImageReplaced, convert.At(claim, "spec"))
	}
	spec.Field("customDeploy", "method").Changed(convert.ImageReplaced, convert.At(claim, "spec"))
	r.userData(it, cl, claim)
	switch it.Field("status", "provisioning", "state").Text() {
	case "provisioned", "externally provisioned":
		r.c.Need(claim, "spec", convert.NeedsDecision)
	}
	r.c.Add(cl)
}

// userData is what the claim's user data is, if it is Ignition or Butane, or not in the input.
func (r *room) userData(it *kube.Item, cl *resource.Claim, claim string) {
	user := it.Field("spec", "userData")
	name := convert.Name(user.Field("name").Text())
	if name == "" {
		return
	}
	s := r.secret(it, user)
	if s != nil && !r.ignition(s) {
		user.NoEqual(convert.CloudInit)
		return
	}
	if s == nil {
		r.c.Need(claim, "spec.ignitionSecretRef", convert.NeedsOther)
	}
	cl.Spec.IgnitionSecretRef = &resource.Ref{Name: name}
	user.Field("name").Named(name, convert.At(claim, "spec.ignitionSecretRef"))
	user.Field("namespace").NoEqual(convert.Observed) // Secrets are of the hub
}

// secret is the Secret that a field with a name, and perhaps a namespace, means; nil if it is not in the input.
func (r *room) secret(it *kube.Item, ref convert.Field) *kube.Item {
	space := ref.Field("namespace").Text()
	if space == "" {
		space = it.Namespace
	}
	return r.secrets[space+"/"+ref.Field("name").Text()]
}

// ignition makes user data of a Secret, once.
func (r *room) ignition(s *kube.Item) bool {
	if r.used[s] {
		return r.c.Has(resource.KindSecret, convert.Name(s.Name))
	}
	r.used[s] = true
	return s.UserData(r.c, "userData", "value")
}

// rest are the fields that mean nothing here.
func (r *room) rest(spec convert.Field) {
	for field, code := range map[string]convert.Code{
		"taints": convert.Placement, "consumerRef": convert.Consumer, "raid": convert.NotManaged, "firmware": convert.FirmwareSetting,
		"hardwareProfile": convert.NotManaged, "networkData": convert.NetworkConfig, "preprovisioningNetworkDataName": convert.NetworkConfig,
		"metaData": convert.CloudInit, "inspectionMode": convert.Inspection,
	} {
		spec.Field(field).NoEqual(code)
	}
	if ext := spec.Field("externallyProvisioned"); ext.Bool() {
		ext.NoEqual(convert.Adopt)
	} else {
		ext.Taken()
	}
	if clean := spec.Field("automatedCleaningMode"); clean.Text() == "disabled" {
		clean.Taken() // nothing is ever cleaned by itself
	} else {
		clean.NoEqual(convert.Cleaning)
	}
}
