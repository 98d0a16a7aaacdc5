package sim

// MessageIds that vendors answer with.
const (
	messageAlreadyDell = "IDRAC.2.8.PSU501"
	messageAlreadyHPE  = "iLO.2.37.InvalidOperationForSystemState"
	messageNotReady    = "IDRAC.2.8.SYS518"
	messagePostHPE     = "iLO.2.37.UnableToModifyDuringSystemPOST"
)
