package boot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// stopToken is the token of a server's stop image, in the form of an attempt's.
func stopToken(key, server string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("stop image " + server))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// wantsStop says whether the rack's machines are given a stop image.
func wantsStop(s *message.SafeStopIntent) bool {
	return s != nil && s.NetworkFirst == resource.NetworkFirstStopImage
}
