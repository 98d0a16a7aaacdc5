package access

// ClientUnit is the organizational unit (X.520 OU) in the certificates that the hub's own
// authority signs for callers of the API. Agents' certificates are of the same authority
// and have none, so that no agent is a caller, whatever it is called.
const ClientUnit = "rackboot-client"
