package metaloperator

import (
	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/kube"
	"rackboot/protocol/resource"
)

const group = "metal.ironcore.dev"

// Convert reads what kubectl get -o yaml, or json, writes.
func Convert(c *convert.Conversion, files []convert.File) error {
	items, err := kube.Items(c, files)
	if err != nil {
		return err
	}
	r := room{c, map[string]*kube.Item{}}
	for _, it := range items {
		if it.Core() || it.Is(group, it.Kind) {
			r.named[it.Kind+"/"+it.Name] = it
		}
	}
	// What is referred to comes first.
	for _, it := range kube.Sorted(items, "BMCSecret", "Secret", "BMC", "Server", "ServerClaim") {
		if it.Kind != "Endpoint" {
			r.item(it)
			it.Close()
		}
	}
	for _, it := range items {
		if it.Kind == "Endpoint" {
			r.item(it)
			it.Close()
		}
	}
	return nil
}

type room struct {
	c     *convert.Conversion
	named map[string]*kube.Item
}

func (r *room) item(it *kube.Item) {
	switch {
	case it.Is(group, "BMCSecret"):
		it.Account(r.c)
	case it.Core() && it.Kind == "Secret":
		it.UserData(r.c, "ignition", "userData", "value")
	case it.Is(group, "BMC"):
		r.bmc(it)
	case it.Is(group, "Server"):
		r.server(it)
	case it.Is(group, "ServerClaim"):
		r.claim(it)
	case it.Is(group, "Endpoint"):
		r.endpoint(it)
	case it.Is(group, "ServerBootConfiguration"):
		it.Whole().NoEqual(convert.Observed)
	case it.Is(group, "ServerMaintenance"):
		it.Whole().NoEqual(convert.ByHand)
	case it.Is(group, "BIOSSettings"), it.Is(group, "BIOSVersion"), it.Is(group, "BMCSettings"), it.Is(group, "BMCVersion"),
		it.Is(group, "BIOSSettingsSet"), it.Is(group, "BIOSVersionSet"), it.Is(group, "BMCSettingsSet"), it.Is(group, "BMCVersionSet"):
		it.Whole().NoEqual(convert.FirmwareSetting)
	default:
		it.Whole().NoEqual(convert.UnknownKind)
	}
}

// endpoint is reported after the BMCs that it is part of.
func (r *room) endpoint(it *kube.Item) {
	name := convert.Name(it.Name)
	it.Head(convert.ID(resource.KindBMC, name), name)
	it.Field("metadata", "namespace").NoEqual(convert.Observed)
	it.Field("metadata", "labels").NoEqual(convert.AssetData)
	it.Field("metadata", "annotations").NoEqual(convert.AssetData)
}

func (r *room) claim(it *kube.Item) {
	name, spec, set := convert.Name(it.Name), it.Field("spec"), r.c.Settings
	claim := convert.ID(resource.KindClaim, name)
	image := spec.Field("image")
	switch {
	case name == "":
		it.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindClaim, name):
		it.Refuse(convert.Duplicate)
		return
	case image.Text() == "" && set.Image == "" && set.BootEnv == "":
		it.Refuse(convert.NeedsImage)
		return
	}
	it.Head(claim, name)
	cl := &resource.Claim{}
	cl.Metadata = resource.Metadata{Name: name, Labels: it.Labels(claim), Annotations: it.Annotations(claim, all)}
	cl.Spec.Power = resource.Power(spec.Field("power").Text())
	spec.Field("power").Taken(convert.At(claim, "spec.power"))
	switch {
	case set.BootEnv != "":
		cl.Spec.BootEnv = &resource.Ref{Name: set.BootEnv}
		image.Changed(convert.ImageReplaced, convert.At(claim, "spec.bootEnv"))
	case set.Image != "":
		cl.Spec.Image = set.Image
		image.Changed(convert.ImageReplaced, convert.At(claim, "spec.image"))
	default:
		cl.Spec.Image = image.Text()
		image.Taken(convert.At(claim, "spec.image"))
	}
	r.target(spec, cl, claim)
	policy := spec.Field("bootPolicy")
	cl.Spec.BootPolicy = resource.BootPolicy{FirstBoot: resource.FirstBoot(policy.Field("firstBoot").Text()), Boot: resource.Boot(policy.Field("boot").Text())}
	policy.Field("firstBoot").Taken(convert.At(claim, "spec.bootPolicy.firstBoot"))
	policy.Field("boot").Taken(convert.At(claim, "spec.bootPolicy.boot"))
	if ref := spec.Field("ignitionSecretRef", "name"); ref.Text() != "" {
		secret := convert.Name(ref.Text())
		cl.Spec.IgnitionSecretRef = &resource.Ref{Name: secret}
		ref.Named(secret, convert.At(claim, "spec.ignitionSecretRef"))
		if !r.c.Has(resource.KindSecret, secret) {
			r.c.Need(claim, "spec.ignitionSecretRef", convert.NeedsOther)
		}
	}
	spec.Field("tolerations").NoEqual(convert.Placement)
	if it.Field("status", "phase").Text() == "Bound" {
		r.c.Need(claim, "spec", convert.NeedsDecision)
	}
	r.c.Add(cl)
}

// target is which server the claim means.
func (r *room) target(spec convert.Field, cl *resource.Claim, claim string) {
	if ref := spec.Field("serverRef", "name"); ref.Text() != "" {
		server := convert.Name(ref.Text())
		cl.Spec.ServerRef = &resource.Ref{Name: server}
		ref.Named(server, convert.At(claim, "spec.serverRef"))
		if !r.c.Has(resource.KindServer, server) {
			r.c.Need(claim, "spec.serverRef", convert.NeedsOther)
		}
	}
	sel := spec.Field("serverSelector")
	if !sel.There() || cl.Spec.ServerRef != nil {
		// Of a claim with both the server counts: the selector is how it was found.
		sel.NoEqual(convert.Observed)
		return
	}
	out := &resource.Selector{}
	labels := sel.Field("matchLabels")
	for _, k := range labels.Keys() {
		if out.MatchLabels == nil {
			out.MatchLabels = map[string]string{}
		}
		out.MatchLabels[k] = labels.Field(k).Text()
		labels.Field(k).Taken(convert.At(claim, "spec.serverSelector.matchLabels"))
	}
	for _, e := range sel.Field("matchExpressions").Items() {
		out.MatchExpressions = append(out.MatchExpressions, resource.SelectorExpression{
			Key: e.Field("key").Text(), Operator: resource.SelectorOperator(e.Field("operator").Text()), Values: e.Field("values").Texts(),
		})
		to := convert.At(claim, "spec.serverSelector.matchExpressions")
		e.Field("key").Taken(to)
		e.Field("operator").Taken(to)
		e.Field("values").Each(to)
	}
	cl.Spec.ServerSelector = out
}
