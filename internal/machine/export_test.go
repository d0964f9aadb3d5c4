package machine

import "flag"

// Flaws lists the kinds of findings, in the order of the documentation.
func Flaws() []Flaw { return flaws }

// Update says whether files that tests compare are written anew.
var Update = flag.Bool("update", false, "write golden files and what is generated anew")
