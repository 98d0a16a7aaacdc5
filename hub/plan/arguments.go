package plan

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Lines are what an image has for a kernel's command line to be added to.
type Lines string

// The words.
const (
	LinesKernel Lines = "kernel" // a kernel and an initramfs, which loaders give a line to
	LinesUKI    Lines = "uki"    // a UKI alone: its line is in it, and signed
	LinesBoth   Lines = "both"
)

// lineRule says what becomes of an image to which arguments are added. The first row that
// fits decides.
//
//	arguments | has    | outcome
//	no        | *      | as it is
//	yes       | kernel | added
//	yes       | both   | added, without the UKI
//	yes       | uki    | refused
//
// Nothing that the agent boots by appends to a UKI: systemd-stub would take a line from
// what starts it, where there is none in it or Secure Boot is off, and firmware that loads
// it from the network gives none.
func lineRule(arguments bool, has Lines) lineOutcome {
	switch {
	case !arguments:
		return lineAsIs
	case has == LinesKernel:
		return lineAdded
	case has == LinesBoth:
		return lineInstead
	}
	return lineRefused
}

type lineOutcome string

const (
	lineAsIs    lineOutcome = "as it is"
	lineAdded   lineOutcome = "added"
	lineInstead lineOutcome = "added, without the UKI"
	lineRefused lineOutcome = "refused"
)

// WithArguments is an image with more for its kernel's command line: the server's, and
// then the claim's or maintenance's. The error is invalid: a UKI has its own line, and a
// line has a length.
func WithArguments(img resource.Image, server, owner string) (resource.Image, error) {
	const op = "add kernel arguments"
	_, uki := img.Artefact(resource.ArtefactUKI)
	_, kernel := img.Artefact(resource.ArtefactKernel)
	_, initramfs := img.Artefact(resource.ArtefactInitramfs)
	has := LinesKernel
	switch {
	case uki && kernel && initramfs:
		has = LinesBoth
	case uki:
		has = LinesUKI
	}
	args := resource.JoinKernelArgs(server, owner)
	switch lineRule(args != "", has) {
	case lineAsIs:
		return img, nil
	case lineRefused:
		whose := "the server's spec.kernelArgs"
		if owner != "" {
			whose = "kernelArgs"
		}
		return img, protocol.Errorf(protocol.CodeInvalid, op, "%s: the image has nothing but a UKI, whose command line is its own", whose).
			WithHint("remove %s, or use an image with a kernel and an initramfs", whose)
	case lineInstead:
		img.Artefacts = slices.DeleteFunc(slices.Clone(img.Artefacts), func(a resource.Artefact) bool { return a.Kind == resource.ArtefactUKI })
	case lineAdded:
	}
	img.CommandLine = resource.JoinKernelArgs(img.CommandLine, args)
	return img, resource.CheckCommandLine(img.CommandLine)
}
