package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"interlock/internal/audit"
	"interlock/internal/fault"
)

// A Role is what a user may do; each may what the ones before it may.
type Role string

// The roles.
const (
	Viewer  Role = "viewer"  // look
	Analyst Role = "analyst" // ask, run, answer
	Admin   Role = "admin"   // operate: add and remove sources, replace and delete every file, read metrics
)

// nobody marks routes that need no user.
const nobody Role = ""

func (r Role) rank() int {
	switch r {
	case Viewer:
		return 1
	case Analyst:
		return 2
	case Admin:
		return 3
	}
	return 0
}

// A User is known by a token. Threads, runs and artifacts belong to the user's
// name; nobody sees those of others.
type User struct {
	Name  string
	Role  Role // default Analyst
	Token string
}

// users finds the user of a token. Tokens are kept as hashes only.
type users struct {
	known []known
	owner string // everybody, where no user is known
}

type known struct {
	hash [sha256.Size]byte
	user User
}

func newUsers(given []User, owner string) (users, error) {
	us := users{owner: owner}
	var faults []error
	seen := map[string]bool{}
	for i, u := range given {
		orDefault(&u.Role, Analyst)
		switch {
		case u.Name == "":
			faults = append(faults, fmt.Errorf("user %d has no name", i+1))
		case seen[u.Name]:
			faults = append(faults, fmt.Errorf("there are two users %q", u.Name))
		case u.Role.rank() == 0:
			faults = append(faults, fmt.Errorf("user %q has the unknown role %q: use viewer, analyst or admin", u.Name, u.Role))
		case len(u.Token) < 16:
			faults = append(faults, fmt.Errorf("the token of user %q is shorter than 16 characters", u.Name))
		}
		seen[u.Name] = true
		hash := sha256.Sum256([]byte(u.Token))
		u.Token = ""
		us.known = append(us.known, known{hash, u})
	}
	return us, errors.Join(faults...)
}

// find gives the user of a request. Every token is compared, in constant time.
func (us users) find(r *http.Request) (User, bool) {
	if len(us.known) == 0 {
		return User{Name: us.owner, Role: Admin}, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	var found User
	for _, u := range us.known {
		if subtle.ConstantTimeCompare(hash[:], u.hash[:]) == 1 {
			found = u.user
		}
	}
	return found, found.Name != "" && strings.EqualFold(scheme, "Bearer")
}

// admitted finds out who calls and refuses strangers, but for the routes that are
// open to all.
func (s *Server) admitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, known := s.users.find(r)
		if known {
			n := noteOf(r.Context())
			n.user = user
			r = r.WithContext(audit.WithActor(r.Context(), audit.Actor{User: user.Name, Via: "http", Request: n.id}))
		} else if !isOpen(r) {
			s.recordStranger(r)
			writeProblem(w, r, fault.New(fault.Unauthorized, "this needs a valid token"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOpen says which requests need no token: the sign of life, and the page's own
// files, which show nothing before somebody has logged in.
func isOpen(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch path := r.URL.Path; path {
	case "/healthz", "/", "/icon.svg":
		return true
	default:
		return strings.HasPrefix(path, "/assets/")
	}
}

// requireRole refuses a user who lacks the role.
func requireRole(user User, role Role) error {
	if user.Role.rank() < role.rank() {
		return fault.New(fault.Forbidden, "%s is %s; this needs the role %s", user.Name, user.Role, role)
	}
	return nil
}
