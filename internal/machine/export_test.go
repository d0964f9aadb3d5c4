package machine

// Flaws lists the kinds of findings, in the order of the documentation.
func Flaws() []Flaw { return flaws }
