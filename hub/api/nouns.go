package api

import (
	"crypto/x509"
	"slices"

	"rackboot/hub/api/route"
	"rackboot/hub/bulk"
)

// Rooms are the parts of the hub that the API asks, each by what it asks of it.
type Rooms struct {
	Status    Status
	Claims    Claims
	Imports   Imports
	Firmware  Firmware
	Plans     FirmwarePlans
	Discovery Discovery
	Traces    Traces
	Mirrors   Mirrors
	Members   Members
	Inventory Inventory
	Carried   Carried
	Groups    Groups
	Rollouts  Rollouts
	Upgrades  Upgrades
	Events    EventLog
	Watches   Watches
	Hubs      Hubs
}

// Status says what is so.
type Status interface {
	Decorator
	Doctor
	Renderer
}

// Carried is what boots carry besides their image, sealed for agents.
type Carried interface {
	UserData
	EnvBundles
	ISOGrants
}

// complete reports whether none is missing.
func (r Rooms) complete() bool {
	return !slices.Contains([]any{r.Status, r.Claims, r.Imports, r.Firmware, r.Plans, r.Discovery, r.Traces, r.Mirrors, r.Members, r.Inventory, r.Carried, r.Groups, r.Rollouts, r.Upgrades, r.Events, r.Watches, r.Hubs}, nil)
}

// A noun is what the API speaks of, with its routes.
type noun interface {
	// routes adds the routes of the noun to a table.
	routes(t *route.Table)
}

// callers is whom handlers ask about who calls: the gate.
type callers interface {
	AgentOf(chains [][]*x509.Certificate) string
	Login() (issuer, clientID string)
}

// nouns are all that the API speaks of. Each is given what its handlers need.
func nouns(c Config, g callers, working *bulk.Room) []noun {
	r, throttled := c.Rooms, newThrottled(c.Registerer)
	agents, pulls := route.Agents(g.AgentOf), newThrottle(c.Clock, pullEvery, pullBurst, throttled)
	lost, pieces := losses{c.Store.Lost}, newSlots(maxPieces, maxPiecesOfCaller)
	asked := requests{c.Store, c.Clock, c.NewID, r.Status, lost}
	reboots := reboots{c.Store.Objects, c.Store.Holds, asked}
	kinds := resources{c.Store, r.Status, lost, c.Clock, reboots, watches{r.Watches, lost}}
	return []noun{
		kinds,
		applies{c.Store.Objects, c.Store.Sets, reboots},
		holds{c.Store.Holds, c.Store.Objects, r.Status},
		claims{c.Store.Claims, r.Claims, r.Status},
		annotations{c.Store.Objects, c.Store.Holds, asked, r.Status},
		firmware{r.Firmware, r.Status},
		firmwarePlans{r.Plans},
		firmwareRuns{c.Store.Objects},
		firmwareWanted{c.Store.Objects},
		discoveries{r.Discovery, r.Status},
		maintenances{c.Store.Maintenances, r.Status},
		bootImages{c.Store, r.Status},
		groups{r.Groups, r.Status},
		rollouts{c.Store.Objects, r.Rollouts, r.Upgrades, r.Status},
		doctor{r.Status},
		supports{c.Support},
		imports{r.Imports},
		asked,
		bulks{working, kinds, c.NewID, lost},
		approvals{c.Approver, lost},
		bmcs{r.Inventory, r.Status},
		traces{r.Traces},
		mirrors{r.Mirrors},
		renders{r.Status},
		secrets{kinds, c.Vault, c.Logger},
		events{c.Store.Objects, r.Events, lost},
		audits{c.AuditLog, c.AuditSite, c.Logger},
		backups{c.Backups, c.Logger},
		webhookRoutes{c.Webhooks, lost},
		joins{
			c.Store.Objects, r.Members,
			newThrottle(c.Clock, joinEvery, joinBurst, throttled), newThrottle(c.Clock, renewEvery, renewBurst, throttled),
		},
		userData{r.Carried, agents, pulls},
		envBundles{r.Carried, agents, pulls},
		isos{c.Store.Objects, c.ISOs, lost},
		uploads{c.ISOs, pieces},
		agentPackages{c.AgentPackages, pieces, lost},
		isoContents{c.ISOs, r.Carried, agents, pulls, newSlots(maxISOPulls, maxISOPullsOfAgent)},
		hubs{r.Hubs, lost},
		endings{r.Members},
		whoami{c.Version},
		logins{g.Login},
		health{c.Ready, c.Idle, c.Logger},
		authority{c.Authority},
		schemaFiles{},
	}
}
