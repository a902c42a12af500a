package main

import (
	"strings"
	"testing"
	"time"
)

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := middle(c.values); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if got := middle([]time.Duration{5, 1, 3}); got != 3 {
		t.Errorf("%v", got)
	}
}

func TestGap(t *testing.T) {
	runs := []sample{{gaps: []time.Duration{9, 1, 1, 5}}, {gaps: []time.Duration{9, 3, 3, 5}}, {gaps: []time.Duration{9, 2, 2, 5}}}
	if got := gap(runs, 1, 3); got != time.Nanosecond.Seconds() {
		t.Errorf("%v", got)
	}
	if runs[0].gaps[0] != 9 || runs[0].gaps[3] != 5 {
		t.Errorf("the samples were changed: %v", runs[0].gaps)
	}
}

func TestBars(t *testing.T) {
	for _, c := range []struct {
		row  row
		want bool
	}{
		{row{oh: 4, floor: 1}, false},
		{row{oh: 4, floor: 1, ratio: 4}, false},
		{row{oh: 4.1, floor: 1, ratio: 4}, true},
		{row{oh: 3, floor: 2, extra: 1}, false},
		{row{oh: 3.1, floor: 2, extra: 1}, true},
		{row{oh: 25e6, most: 25e6}, false},
		{row{oh: 26e6, floor: 20e6, most: 25e6}, true},
	} {
		if got := c.row.missed(); got != c.want {
			t.Errorf("%+v: missed %v", c.row, got)
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	missed := writeTable(&b, []row{
		{name: "a", oh: 0.006, floor: 0.002, ratio: 2},
		{name: "b", unit: megabytes, oh: 13.25e6, most: 20e6},
		{name: "c", oh: 0.0021, floor: 0.002, extra: 0.001},
		{name: "d", unit: factor, oh: 1.25},
	})
	const want = `item  oh       floor    ratio  bar                
a     6.00 ms  2.00 ms  3.00   ≤ 2×               MISS
b     13.2 MB  -        -      ≤ 20.0 MB          ok
c     2.10 ms  2.00 ms  1.05   ≤ floor + 1.00 ms  ok
d     1.25×    -        -                         
`
	if b.String() != want || missed != 1 {
		t.Errorf("%d missed\n%s", missed, &b)
	}
}
