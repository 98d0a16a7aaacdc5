package control

import "rackboot/protocol"

// lack is what an agent lacks to boot a server's present configuration.
type lack string

const (
	lackNothing lack = "nothing"
	lackReport  lack = "report"
	lackWord    lack = "word" // which configuration its reports are of
	lackConfig  lack = "configuration"
	lackFiles   lack = "files"
)

// generationSaid is which configuration a report is of.
type generationSaid string

const (
	saidNone  generationSaid = "none" // as agents of before do
	saidOther generationSaid = "other"
	saidThis  generationSaid = "this"
)

// lackRule says what a server's agent lacks. The first row that fits decides.
//
//	report | claim | generation | files | lacks
//	no     | *     | *          | *     | report
//	yes    | no    | *          | *     | configuration
//	yes    | yes   | none       | *     | word
//	yes    | yes   | other      | *     | configuration
//	yes    | yes   | this       | no    | files
//	yes    | yes   | this       | yes   | nothing
//
// claim is that the report is of the claim that the server has now.
func lackRule(report, claim bool, of generationSaid, files bool) lack {
	switch {
	case !report:
		return lackReport
	case !claim:
		return lackConfig
	case of == saidNone:
		return lackWord
	case of != saidThis:
		return lackConfig
	case !files:
		return lackFiles
	}
	return lackNothing
}

// waits is what the agent lacks for the present configuration.
func (s *seat) waits() lack {
	r := s.report
	if r == nil {
		return lackReport
	}
	of := saidOther
	switch r.BootGeneration {
	case 0:
		of = saidNone
	case s.cfg.Metadata.Generation:
		of = saidThis
	}
	return lackRule(true, r.ClaimUID == s.cfg.Spec.ClaimUID, of, r.ArtefactsLocal)
}

// ready says whether the agent has the configuration with all of its files.
func (s *seat) ready() bool { return s.waits() == lackNothing }

// words say for people what a server waits for.
func (l lack) words(s *seat) string {
	switch l {
	case lackNothing:
	case lackReport:
		return "its agent has not reported since the hub started"
	case lackConfig:
		return "its agent has not its configuration yet"
	case lackWord:
		return "its agent is too old for roll-outs: it does not say which configuration it has; upgrade it"
	case lackFiles:
		if f := s.report.Condition(protocol.CondArtefactsFailed); f != nil {
			return "its rack has not the files: " + f.Message
		}
		return "its rack fetches the files"
	}
	return ""
}
