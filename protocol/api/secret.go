package api

import (
	"context"
	"net/http"
)

// PathRekey is the route that rotates the key of secrets.
const PathRekey = "/v1/secrets-rekey"

// Rekeyed is what became of a rotation of the key-encryption key.
type Rekeyed struct {
	Key        string `json:"key" doc:"id of the current key"`
	Secrets    int    `json:"secrets" doc:"how many there are"`
	Rewrapped  int    `json:"rewrapped" doc:"how many were under another key"`
	Unreadable int    `json:"unreadable" doc:"how many are under a key that is not configured; they stay as they are"`
}

// RotateSecretKey has the hub read its key-encryption keys again and put every Secret
// under the current one. Repeating it is safe.
func (c *Client) RotateSecretKey(ctx context.Context) (out Rekeyed, err error) {
	err = c.hub.call(ctx, http.MethodPost, PathRekey, nil, &out)
	return out, err
}
