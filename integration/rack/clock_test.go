package rack

import "time"

// onWait is longer than anything is waited for after an On of which the agent that died cannot
// have seen the end.
const onWait = 3 * time.Minute
