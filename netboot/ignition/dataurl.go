package ignition

import "encoding/base64"

// dataURL is a URL that has the data in it (RFC 2397).
func dataURL(data []byte) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString(data)
}
