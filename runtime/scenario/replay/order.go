package replay

// InOrder does n pieces of work, up to jobs of them at the same time, and passes on their results in order. It
// stops at the first error of take.
func InOrder[T any](jobs, n int, do func(i int) T, take func(i int, result T) error) error {
	results := make(chan chan T, jobs-1) // and one that is being waited for
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(results)
		for i := range n {
			result := make(chan T, 1)
			select {
			case results <- result:
				go func() { result <- do(i) }()
			case <-stop:
				return
			}
		}
	}()
	taken := 0
	for result := range results {
		if err := take(taken, <-result); err != nil {
			return err
		}
		taken++
	}
	return nil
}
