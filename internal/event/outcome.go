package event

// An Outcome is how a run ended.
type Outcome string

// The outcomes. The machine may choose one of the first five for a run that ended by
// itself; the engine sets the others.
const (
	Answered Outcome = "answered"
	Asked    Outcome = "asked"    // with a question to the person
	Declined Outcome = "declined" // with the reason why there is no answer
	Refused  Outcome = "refused"  // by a policy
	Failed   Outcome = "failed"
	Stopped  Outcome = "stopped" // by the person
	Limited  Outcome = "limited" // a limit of the turn was reached
)
