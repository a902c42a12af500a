//go:build unix && race

package proc

// floodSize is small here: the race detector makes every byte dear.
const floodSize = 16 << 20
