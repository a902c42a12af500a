package main

import (
	"fmt"
	"os"
	"time"

	"github.com/openharness/oh/bench/model"
)

// item is a group of rows that come from the same runs.
type item struct {
	name    string
	measure func(*lab) ([]row, error)
}

func items() []item {
	return []item{
		{"start", start},
		{"one turn", oneTurn},
		{"100 bash turns", hundred},
		{"1,000 turns", thousand},
		{"1 MB of history", history},
		{"8 parallel reads", reads},
		{"20,000 deltas", deltas},
		{"wires", wires},
		{"search", search},
		{"binary", binary},
	}
}

// start compares --version with a program that does nothing.
func start(l *lab) ([]row, error) {
	var oh, empty []sample
	for range l.runs(41) {
		for _, p := range []struct {
			to   *[]sample
			args []string
		}{{&oh, []string{l.oh, "--version"}}, {&empty, []string{l.empty}}} {
			s, err := l.run(p.args)
			if err != nil {
				return nil, err
			}
			*p.to = append(*p.to, s)
		}
	}
	return []row{
		times("oh --version (floor: an empty program)", oh, empty, wall, 3),
		times("the same, processor time", oh, empty, cpu, 0),
	}, nil
}

func oneTurn(l *lab) ([]row, error) {
	oh, floor, err := l.beside("bench-one", 31)
	if err != nil {
		return nil, err
	}
	size := median(oh, func(s sample) float64 { return float64(s.first) })
	return []row{
		times("one turn", oh, floor, wall, 4),
		times("one turn, processor time", oh, floor, cpu, 0),
		{name: "one turn, peak memory", unit: megabytes, oh: median(oh, memory), floor: median(floor, memory), most: 25e6},
		{name: "first request", unit: kilobytes, oh: size, most: 12e3},
	}, nil
}

func hundred(l *lab) ([]row, error) {
	oh, floor, err := l.beside("bench-bash-100", 9)
	if err != nil {
		return nil, err
	}
	return []row{
		times("100 bash turns", oh, floor, wall, 2),
		times("100 bash turns, processor time", oh, floor, cpu, 0),
	}, nil
}

// thousand looks at the time from an answer to the next request, at the start
// and at the end of a long run.
func thousand(l *lab) ([]row, error) {
	oh, floor, err := l.beside("bench-turns-1000", 5)
	if err != nil {
		return nil, err
	}
	early, late := gap(oh, 0, 100), gap(oh, 900, 1000)
	lowEarly, lowLate := gap(floor, 0, 100), gap(floor, 900, 1000)
	return []row{
		over("answer to request, turns 1-100", early, lowEarly, 2*time.Millisecond),
		over("answer to request, turns 901-1,000", late, lowLate, 2*time.Millisecond),
		{name: "growth: turns 901-1,000 to turns 1-100", unit: factor, oh: late / early, floor: lowLate / lowEarly, most: 1.5},
		{name: "growth of what oh adds to the floor", unit: factor, oh: (late - lowLate) / (early - lowEarly), most: 1.5},
		{name: "1,000 turns, peak memory", unit: megabytes, oh: median(oh, memory), floor: median(floor, memory)},
	}, nil
}

func history(l *lab) ([]row, error) {
	oh, floor, err := l.beside("bench-history", 5)
	if err != nil {
		return nil, err
	}
	return []row{over("answer to request, 1 MB of history", gap(oh, 110, 160), gap(floor, 110, 160), 5*time.Millisecond)}, nil
}

func reads(l *lab) ([]row, error) {
	oh, floor, err := l.beside("bench-read-8", 9)
	if err != nil {
		return nil, err
	}
	return []row{
		over("answer to request, 8 reads (floor: one by one)", gap(oh, 0, 20), gap(floor, 0, 20), 0),
		times("20 turns of 8 reads", oh, floor, wall, 0),
	}, nil
}

// deltas compares the processor time of a long streamed reply in each format.
func deltas(l *lab) ([]row, error) {
	const name = "bench-deltas"
	floorArgs, err := l.floorArgs(name)
	if err != nil {
		return nil, err
	}
	formats := []struct {
		name string
		args []string
		most float64
	}{
		{"text", nil, 2},
		{"json", []string{"--output-format", "json"}, 3},
		{"stream-json", []string{"--output-format", "stream-json"}, 3},
		{"stream-json with pieces", []string{"--output-format", "stream-json", "--include-partial-messages"}, 3},
		{"events", []string{"--output-format", "events"}, 3},
	}
	programs := [][]string{floorArgs}
	for _, f := range formats {
		programs = append(programs, l.ohArgs(name, f.args...))
	}
	all, err := l.pairs(name, 9, programs...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, f := range formats {
		rows = append(rows, times(fmt.Sprintf("20,000 deltas, %s, processor time", f.name), all[i+1], all[0], cpu, f.most))
	}
	return rows, nil
}

// wires compares a turn and a long reply on the other wires with the same on
// Anthropic's by the floor.
func wires(l *lab) ([]row, error) {
	var rows []row
	for _, v := range model.Voices() {
		for _, m := range []struct {
			model, what string
			runs        int
			of          func(sample) float64
			most        float64
		}{{"bench-one", "one turn", 9, wall, 4}, {"bench-deltas", "20,000 deltas, text, processor time", 5, cpu, 2}} {
			args, err := l.floorArgs(m.model)
			if err != nil {
				return nil, err
			}
			all, err := l.pairs(m.model, m.runs, l.voiceArgs(v, m.model), args)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
			rows = append(rows, times(v.Name+": "+m.what, all[0], all[1], m.of, m.most))
			if m.model == "bench-one" {
				size := median(all[0], func(s sample) float64 { return float64(s.first) })
				rows = append(rows, row{name: v.Name + ": peak memory", unit: megabytes, oh: median(all[0], memory), floor: median(all[1], memory), most: 25e6},
					row{name: v.Name + ": first request", unit: kilobytes, oh: size, most: 12e3})
			}
		}
	}
	return rows, nil
}

func binary(l *lab) ([]row, error) {
	info, err := os.Stat(l.oh)
	if err != nil {
		return nil, err
	}
	return []row{{name: "binary", unit: megabytes, oh: float64(info.Size()), most: 20e6}}, nil
}
