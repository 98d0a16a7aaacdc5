package resource

// Owner is whom a server boots for: its claim, or a maintenance or discovery that has it for
// a while. Zero is nobody.
type Owner struct {
	Kind Purpose `json:"kind"`
	Name string  `json:"name"`
	UID  string  `json:"uid"`
}
