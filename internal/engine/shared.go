package engine

import (
	"context"
	"sync"
)

// Shared holds values that several goroutines use at the same time, each made once.
// A value is forgotten when the last of its users has released it. The zero value is
// ready for use.
type Shared[V any] struct {
	mu     sync.Mutex
	values map[string]*sharedValue[V]
}

type sharedValue[V any] struct {
	users int
	made  chan struct{} // closed when value or err is set
	value V
	err   error
}

// Get returns the value of a key. If nobody uses it now, produce makes it; if produce
// failed for another caller, this one tries again. The caller must call release once.
func (s *Shared[V]) Get(ctx context.Context, key string, produce func() (V, error)) (value V, release func(), err error) {
	for {
		v, first := s.join(key)
		if first {
			v.value, v.err = produce()
			close(v.made)
			if v.err != nil {
				s.forget(key, v)
				return value, nil, v.err
			}
			return v.value, func() { s.leave(key, v) }, nil
		}
		select {
		case <-v.made:
		case <-ctx.Done():
			s.leave(key, v)
			return value, nil, ctx.Err()
		}
		if v.err == nil {
			return v.value, func() { s.leave(key, v) }, nil
		}
		s.forget(key, v)
	}
}

func (s *Shared[V]) join(key string) (v *sharedValue[V], first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v = s.values[key]; v != nil {
		v.users++
		return v, false
	}
	if s.values == nil {
		s.values = map[string]*sharedValue[V]{}
	}
	v = &sharedValue[V]{users: 1, made: make(chan struct{})}
	s.values[key] = v
	return v, true
}

// leave removes one user, and the value with its last user. A user may leave while the
// value is still being made.
func (s *Shared[V]) leave(key string, v *sharedValue[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.users--
	if s.values[key] == v && v.users == 0 {
		delete(s.values, key)
	}
}

// forget removes a value that could not be made.
func (s *Shared[V]) forget(key string, v *sharedValue[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key] == v {
		delete(s.values, key)
	}
}
