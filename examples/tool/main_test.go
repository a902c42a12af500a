package main

import (
	"context"
	"log/slog"
)

func Example() {
	if err := run(context.Background()); err != nil {
		slog.Error(err.Error())
	}
	// Output:
	// count said: 3 words
	// the model said: There are three words.
}
