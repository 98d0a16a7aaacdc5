package plan

// Told is what an agent is known to have heard about the power of a server.
type Told string

// What it may have heard.
const (
	ToldUnknown Told = "not acknowledged" // the newest document about the server is on its way
	ToldOn      Told = "On"
	ToldOff     Told = "no On" // also where no document names the server
)

// ReleaseWaits says whether the release of a hold waits for another document. Hold
// documents are made ahead of everything else: the release of a hold on a server that
// shall stay off, because its claim goes or wants it off, could be at the agent before
// that wish, and the server would be powered on in between.
//
//	shall be On | the agent was told | outcome
//	yes         | *                  | goes
//	no          | not acknowledged   | waits
//	no          | On                 | waits
//	no          | no On              | goes
func ReleaseWaits(on bool, told Told) bool { return !on && told != ToldOff }
