package sandbox

// Warm is the number of interpreters that wait for a job.
func Warm(e Executor) int {
	p := e.(*executor).pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}
