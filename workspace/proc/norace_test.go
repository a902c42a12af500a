//go:build unix && !race

package proc

const floodSize = 100 << 20
