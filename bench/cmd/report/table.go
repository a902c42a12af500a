package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

type unit int

const (
	milliseconds unit = iota
	megabytes
	kilobytes
	factor // a bare number
)

// row is one line of the table. Times are in seconds, sizes in bytes.
type row struct {
	name      string
	unit      unit
	oh, floor float64 // floor 0: there is none
	ratio     float64 // bar for oh/floor, 0: none
	extra     float64 // bar for oh-floor, 0: none
	most      float64 // bar for oh, 0: none
}

func (r row) barred() bool { return r.ratio+r.extra+r.most > 0 }

func (r row) missed() bool {
	return r.ratio > 0 && r.oh > r.ratio*r.floor || r.extra > 0 && r.oh-r.floor > r.extra || r.most > 0 && r.oh > r.most
}

func (r row) bar() string {
	switch {
	case r.ratio > 0:
		return fmt.Sprintf("≤ %g×", r.ratio)
	case r.extra > 0:
		return "≤ floor + " + r.value(r.extra)
	case r.most > 0:
		return "≤ " + r.value(r.most)
	}
	return ""
}

func (r row) value(x float64) string {
	switch r.unit {
	case megabytes:
		return fmt.Sprintf("%.1f MB", x/1e6)
	case kilobytes:
		return fmt.Sprintf("%.1f kB", x/1e3)
	case factor:
		return fmt.Sprintf("%.2f×", x)
	}
	return fmt.Sprintf("%.2f ms", x*1e3)
}

func wall(s sample) float64   { return s.Wall.Seconds() }
func cpu(s sample) float64    { return s.CPU.Seconds() }
func memory(s sample) float64 { return float64(s.Peak) }

// times is a row whose bar is a factor.
func times(name string, oh, floor []sample, of func(sample) float64, bar float64) row {
	return row{name: name, oh: median(oh, of), floor: median(floor, of), ratio: bar}
}

// over is a row of seconds whose bar is a difference.
func over(name string, oh, floor float64, bar time.Duration) row {
	return row{name: name, oh: oh, floor: floor, extra: bar.Seconds()}
}

// gap is the median time from an answer to the next request, in seconds, for
// the turns from first to before end: that of the run which was disturbed
// least.
func gap(runs []sample, first, end int) float64 {
	var each []float64
	for _, s := range runs {
		each = append(each, middle(slices.Clone(s.gaps[first:end])).Seconds())
	}
	return slices.Min(each)
}

func median(runs []sample, of func(sample) float64) float64 {
	values := make([]float64, 0, len(runs))
	for _, s := range runs {
		values = append(values, of(s))
	}
	return middle(values)
}

// middle is the median; it sorts values.
func middle[T float64 | time.Duration](values []T) T {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// writeTable writes the table and returns how many bars were missed.
func writeTable(w io.Writer, rows []row) (missed int) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join([]string{"item", "oh", "floor", "ratio", "bar", ""}, "\t"))
	for _, r := range rows {
		floor, ratio, verdict := "-", "-", ""
		if r.floor > 0 {
			floor, ratio = r.value(r.floor), fmt.Sprintf("%.2f", r.oh/r.floor)
		}
		switch {
		case r.missed():
			verdict = "MISS"
			missed++
		case r.barred():
			verdict = "ok"
		}
		fmt.Fprintln(tw, strings.Join([]string{r.name, r.value(r.oh), floor, ratio, r.bar(), verdict}, "\t"))
	}
	_ = tw.Flush() // to the same writer: what fails there shows
	return missed
}
