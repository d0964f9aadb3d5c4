package sandbox

// Warm is the number of interpreters that wait for a job.
func Warm(e Executor) int {
	p := e.(*executor).pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Refill has the pool start the interpreters that it lacks, as after a job.
func Refill(e Executor) {
	if x, ok := e.(*executor); ok && x.pool != nil {
		x.pool.refill()
	}
}
