package event

// An Outcome is how a run ended.
type Outcome string

// The outcomes. A machine says which of the first five a run has that came to its end
// by itself; the others are the engine's.
const (
	Answered Outcome = "answered"
	Asked    Outcome = "asked"    // with a question to the person
	Declined Outcome = "declined" // with the reason why there is no answer
	Refused  Outcome = "refused"  // by a policy
	Failed   Outcome = "failed"
	Stopped  Outcome = "stopped" // by the person
	Limited  Outcome = "limited" // a limit of the turn was reached
)
