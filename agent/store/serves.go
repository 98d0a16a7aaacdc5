package store

// keyStandby is there while the newest hold document says that the agent stands by, or while it has
// joined so and none of its own was applied. The rack's document says it too; it acts once none does.
const keyStandby = "meta/standby"
