package source

import (
	"errors"
	"strings"
	"testing"

	"interlock/internal/fault"
)

// What a server says of somebody's own statement comes back as it is: a hidden word
// would confirm a guess of the password, the user or the host.
func TestErrorsConfirmNoGuess(t *testing.T) {
	c := Config{Name: "shop", URL: "postgres://reader@db.internal/d", Password: NewSecret("Tr0ub4dor&3")}
	said := `invalid input syntax for type integer: "reader db.internal Tr0ub4dor&3 swordfish"`
	if got := fault.From(c.serverFault(errors.New("x"), "querying", "22P02", said)).Message; got != said {
		t.Errorf("the server's words became %q", got)
	}
	other := fault.From(c.serverFault(errors.New("x"), "reading", "42501", said)).Message
	if strings.Contains(other, "Tr0ub4dor") {
		t.Errorf("an error of our own statement shows the password: %q", other)
	}
}
