package plan

import (
	"slices"

	"rackboot/protocol"
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
func WithArguments(img protocol.Image, server, owner string) (protocol.Image, error) {
	const op = "add kernel arguments"
	_, uki := img.Artefact(protocol.ArtefactUKI)
	_, kernel := img.Artefact(protocol.ArtefactKernel)
	_, initramfs := img.Artefact(protocol.ArtefactInitramfs)
	has := LinesKernel
	switch {
	case uki && kernel && initramfs:
		has = LinesBoth
	case uki:
		has = LinesUKI
	}
	args := protocol.JoinKernelArgs(server, owner)
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
		img.Artefacts = slices.DeleteFunc(slices.Clone(img.Artefacts), func(a protocol.Artefact) bool { return a.Kind == protocol.ArtefactUKI })
	case lineAdded:
	}
	img.CommandLine = protocol.JoinKernelArgs(img.CommandLine, args)
	return img, protocol.CheckCommandLine(img.CommandLine)
}
