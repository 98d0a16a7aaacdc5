package rollouts

import "rackboot/protocol/resource"

// lack is what an agent lacks to boot a server's present configuration.
type lack string

const (
	lackNothing lack = "nothing"
	lackReport  lack = "report"
	lackConfig  lack = "configuration"
	lackFiles   lack = "files"
	lackTrust   lack = "trust" // it has given the configuration up for the one before
)

// generationSaid is which configuration a report is of.
type generationSaid string

const (
	saidOther  generationSaid = "other"
	saidThis   generationSaid = "this"
	saidFormer generationSaid = "former" // of the one before, after failed boots of this
)

// lackRule says what a server's agent lacks. The first row that fits decides.
//
//	report | claim | generation | files | lacks
//	no     | *     | *          | *     | report
//	yes    | no    | *          | *     | configuration
//	yes    | yes   | former     | *     | trust
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
	case of == saidFormer:
		return lackTrust
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
	if r.BootGeneration == s.cfg.Metadata.Generation {
		of = saidThis
	} else if s.fellBack() {
		of = saidFormer
	}
	return lackRule(true, r.OwnerUID == s.cfg.Spec.Owner.UID, of, r.ArtefactsLocal)
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
	case lackTrust:
		return "its agent returned to the image before, and stays there until there is another revision"
	case lackFiles:
		if f := s.report.Condition(resource.CondArtefactsFailed); f != nil {
			return "its rack has not the files: " + f.Message
		}
		return "its rack fetches the files"
	}
	return ""
}
