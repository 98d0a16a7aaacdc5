package api

// Servers are what is asked of servers besides writing them.
type Servers struct{ hub *hub }
