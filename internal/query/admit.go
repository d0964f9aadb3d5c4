package query

import (
	"context"
	"sync"

	"interlock/internal/fault"
)

// An Admission lets a few statements run at once and makes the others wait: first
// come first served for one user, by turns between users.
type Admission struct {
	slots, perUser, queueMax int // fixed at creation

	mu      sync.Mutex
	running int
	users   map[string]*userQueue
	turn    []string // users with somebody waiting, the next one first
}

type userQueue struct {
	running int
	waiting []*ticket
}

// A ticket waits for its turn.
type ticket struct {
	ready chan struct{}
	given bool
}

// NewAdmission lets so many run at once, so many of one user, and so many of one user wait.
func NewAdmission(slots, perUser, queueMax int) *Admission {
	return &Admission{slots: slots, perUser: perUser, queueMax: queueMax, users: map[string]*userQueue{}}
}

// Enter waits for a slot. The returned function gives it back.
func (a *Admission) Enter(ctx context.Context, user string) (leave func(), err error) {
	a.mu.Lock()
	q := a.users[user]
	if q == nil {
		q = &userQueue{}
		a.users[user] = q
	}
	leave = sync.OnceFunc(func() { a.leave(user) })
	if len(q.waiting) == 0 && a.fits(user, q) {
		a.running++
		q.running++
		a.mu.Unlock()
		return leave, nil
	}
	if len(q.waiting) >= a.queueMax {
		a.mu.Unlock()
		return nil, fault.New(fault.TooMany, "%d of your queries are waiting already.", a.queueMax)
	}
	t := &ticket{ready: make(chan struct{})}
	if len(q.waiting) == 0 {
		a.turn = append(a.turn, user)
	}
	q.waiting = append(q.waiting, t)
	a.mu.Unlock()

	select {
	case <-t.ready:
		return leave, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	given := t.given
	if !given {
		a.withdraw(user, q, t)
	}
	a.mu.Unlock()
	if given {
		leave()
	}
	return nil, ctx.Err()
}

// fits says whether one more of this user may run now. The program itself, which
// has no user name, has no bound of its own.
func (a *Admission) fits(user string, q *userQueue) bool {
	return a.running < a.slots && (user == "" || q.running < a.perUser)
}

func (a *Admission) withdraw(user string, q *userQueue, t *ticket) {
	for i, w := range q.waiting {
		if w == t {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			break
		}
	}
	if len(q.waiting) == 0 {
		a.unqueue(user)
	}
	a.forget(user, q)
}

func (a *Admission) unqueue(user string) {
	for i, u := range a.turn {
		if u == user {
			a.turn = append(a.turn[:i], a.turn[i+1:]...)
			return
		}
	}
}

func (a *Admission) forget(user string, q *userQueue) {
	if q.running == 0 && len(q.waiting) == 0 {
		delete(a.users, user)
	}
}

func (a *Admission) leave(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.users[user]
	a.running--
	q.running--
	a.forget(user, q)
	a.next()
}

// next lets in whoever may run now, going round the users.
func (a *Admission) next() {
	for i := 0; i < len(a.turn) && a.running < a.slots; {
		user := a.turn[i]
		q := a.users[user]
		if !a.fits(user, q) {
			i++
			continue
		}
		t := q.waiting[0]
		q.waiting = q.waiting[1:]
		a.running++
		q.running++
		t.given = true
		close(t.ready)
		a.turn = append(a.turn[:i], a.turn[i+1:]...)
		if len(q.waiting) > 0 {
			a.turn = append(a.turn, user)
		}
	}
}
