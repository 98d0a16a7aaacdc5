package redfish

import (
	"encoding/json"
	"testing"
)

// Whatever a BMC says of its accounts, a new password goes nowhere but to a path of its
// service, and a length that it states is not negative.
func FuzzAccounts(f *testing.F) {
	f.Add([]byte(`{"Accounts":{"@odata.id":"/redfish/v1/AccountService/Accounts"},"MinPasswordLength":8,"MaxPasswordLength":20}`))
	f.Add([]byte(`{"Accounts":{"@odata.id":"https://192.0.2.1/redfish/v1"},"MinPasswordLength":-1,"MaxPasswordLength":1e300}`))
	f.Add([]byte(`{"@odata.etag":"W/\"1\"","Id":"2","UserName":"root"}`))
	f.Add([]byte(`{"Id":2,"UserName":null}`))
	f.Add([]byte(`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired","MessageArgs":["/redfish/v1/AccountService/Accounts/1"]}]}}`))
	f.Add([]byte(`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired","MessageArgs":["//192.0.2.1/x"]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var o object
		if json.Unmarshal(b, &o) == nil {
			u := usersOf(&o)
			if u.minimum < 0 || u.limit < 0 {
				t.Errorf("lengths %d and %d", u.minimum, u.limit)
			}
			_ = userOf("/redfish/v1/AccountService/Accounts/1", &o)
		}
		if uri := parseMessage(b).changeAt(); uri != "" && checkURI(uri) != nil {
			t.Errorf("a password would go to %q", uri)
		}
	})
}
