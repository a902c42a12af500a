package search

import (
	"slices"
	"strings"
	"sync"
)

// ordered keeps the results that come first by path, as many as are needed, in
// bounded memory, whatever order they are found in.
type ordered struct {
	need int // results wanted: lines when content is shown, else files

	mu    sync.Mutex // guards what follows
	files []fileResult
	held  int    // results in files
	bar   string // files behind it are not wanted; "" for none
	cut   bool   // some results were left out
	total int    // matches seen
	hits  int    // files seen with a match
}

// wants reports whether a file may still be among the first.
func (o *ordered) wants(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bar != "" && path > o.bar {
		o.cut = true
		return false
	}
	return true
}

func (o *ordered) add(res fileResult, mode string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += res.count
	o.hits++
	if mode == modeContent && res.more {
		o.cut = true
	}
	o.files = append(o.files, res)
	o.held += weight(res, mode)
	if o.held > 2*o.need+100 {
		o.prune(mode)
	}
}

func weight(res fileResult, mode string) int {
	if mode == modeContent {
		return res.count
	}
	return 1
}

// prune drops what lies behind the results that are needed.
func (o *ordered) prune(mode string) {
	o.sort()
	n := 0
	for i, f := range o.files {
		if n += weight(f, mode); n >= o.need {
			if i+1 < len(o.files) {
				o.cut = true
			}
			clear(o.files[i+1:])
			o.files = o.files[:i+1]
			o.bar = f.path
			break
		}
	}
	o.held = n
}

func (o *ordered) sort() {
	slices.SortFunc(o.files, func(a, b fileResult) int { return strings.Compare(a.path, b.path) })
}
