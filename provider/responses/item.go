package responses

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/body"
)

// match returns the slot of an item. Services tell items by their place in the
// output and by id; some number all alike, some leave out one of the two, and
// some give an item another id in every event.
func (a *assembler) match(kind string, index place, id, call string) *slot {
	var near *slot
	for i := len(a.slots) - 1; i >= 0; i-- {
		s := a.slots[i]
		if s.kind != kind {
			continue
		}
		known := id != "" && s.id == id || call != "" && s.call == call
		other := !known && (id != "" && s.id != "" && s.closed || call != "" && s.call != "")
		indexed := index.ok && s.index.ok
		switch {
		case indexed && index == s.index && known:
			return s
		case near != nil:
		case indexed && index == s.index && !other, !indexed && known:
			near = s
		}
	}
	return near
}

// find returns the slot that a piece belongs to, nil when it begins an item
// that was not announced.
func (a *assembler) find(ev *event, kind string) *slot {
	if s := a.match(kind, ev.Output, ev.ItemID, ""); s != nil {
		return s
	}
	return a.unnamed(kind, ev.Output, ev.ItemID)
}

// unnamed returns the newest item of a kind that has not ended, if nothing
// tells it from the one that is looked for.
func (a *assembler) unnamed(kind string, index place, id string) *slot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		s := a.slots[i]
		if s.kind != kind || s.closed {
			continue
		}
		if index.ok && s.index.ok || id != "" && s.id != "" && kind == kindCall {
			return nil
		}
		return s
	}
	return nil
}

// added takes an item that begins.
func (a *assembler) added(ev *event) {
	it, err := readItem(ev.Item)
	if err != nil || it.Type == "" {
		return
	}
	if it.ID == "" {
		it.ID = ev.ItemID
	}
	s := a.match(it.Type, ev.Output, it.ID, it.CallID)
	if s != nil && (s.closed || s.announced) && !s.is(&it) {
		s = nil
	}
	fresh := s == nil
	if fresh {
		s = a.open(it.Type, ev.Output, it.ID)
	}
	if s.closed {
		return
	}
	s.announced = true
	s.learn(&it)
	s.first = arguments(it.Arguments)
	a.size.Add(len(s.first))
	if foreign(s.kind) {
		a.keep(s, ev.Item)
	}
	if fresh && s.kind == kindCall {
		a.announce(s)
	}
}

// ended takes an item that is complete.
func (a *assembler) ended(ev *event) {
	it, err := readItem(ev.Item)
	if err != nil || it.Type == "" {
		return
	}
	if it.ID == "" {
		it.ID = ev.ItemID
	}
	s := a.match(it.Type, ev.Output, it.ID, it.CallID)
	if s == nil {
		s = a.unnamed(it.Type, ev.Output, it.ID)
	}
	if s == nil {
		s = a.late(&it, ev.Output)
	}
	a.close(s, &it, ev.Item, true)
}

// late makes a slot for an item of which nothing was told before.
func (a *assembler) late(it *item, index place) *slot {
	s := a.open(it.Type, index, it.ID)
	if s.learn(it); s.kind == kindCall {
		a.announce(s)
	}
	return s
}

// is reports whether an item is by its id that of the slot.
func (s *slot) is(it *item) bool {
	return it.ID != "" && s.id == it.ID || it.CallID != "" && s.call == it.CallID
}

// learn keeps what is new of an item.
func (s *slot) learn(it *item) {
	for _, f := range [...]struct {
		to   *string
		from string
	}{{&s.id, it.ID}, {&s.call, it.CallID}, {&s.name, it.Name}, {&s.phase, it.Phase}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	if it.Status != "" {
		s.status = it.Status
	}
}

// close takes the whole of an item: what is missing of its text, its
// arguments, and what goes back to the service. fill says whether the text may
// be added to.
func (a *assembler) close(s *slot, it *item, raw json.RawMessage, fill bool) {
	s.learn(it)
	s.closed = true
	a.settle(s)
	switch s.kind {
	case kindMessage:
		a.refused = a.refused || it.refuses()
		if fill || s.text.Len() == 0 {
			a.rest(s, s.text.String(), it.text(textOf))
		}
	case kindReasoning:
		if fill || s.text.Len() == 0 {
			a.rest(s, s.text.String(), it.text(s.from.what))
		}
		if returns(raw) || len(s.raw) == 0 {
			a.keep(s, raw)
		}
	case kindCall:
		a.argue(s, arguments(it.Arguments))
		if s.args.Blank() && s.first != "" {
			a.rest(s, s.args.String(), plain(s.first))
		}
	default:
		a.keep(s, raw)
	}
}

// keep keeps an item as it came, without the members that say nothing: what
// services write there they do not all read.
func (a *assembler) keep(s *slot, raw json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	n := len(m)
	for name, x := range m {
		if string(x) == "null" {
			delete(m, name)
		}
	}
	if len(m) < n {
		if full, err := oh.Marshal(m); err == nil {
			raw = full
		}
	}
	raw = body.AppendRaw(nil, oh.Compact(raw), "{}")
	a.size.Add(len(raw) - len(s.raw))
	s.raw = raw
}

// refuses reports whether a part of a message is a refusal.
func (it *item) refuses() bool {
	for _, p := range it.Content {
		if p.Refusal != "" {
			return true
		}
	}
	return false
}

// text is the whole text of an item as its pieces would have made it. was is
// the kind of those that came.
func (it *item) text(was what) string {
	if it.Type == kindReasoning {
		summary, thought := it.Summary.paragraphs(), it.Content.paragraphs()
		if was == thoughtOf && thought != "" || summary == "" {
			return thought
		}
		return summary
	}
	var out strings.Builder
	var last source
	for i, p := range it.Content {
		at, s := source{textOf, i}, string(p.Text)
		if p.Refusal != "" {
			at.what, s = refusalOf, string(p.Refusal)
		}
		if s == "" {
			continue
		}
		out.WriteString(between(out.Len(), last, at))
		out.WriteString(plain(s))
		last = at
	}
	return out.String()
}

// paragraphs are the texts of the parts.
func (c content) paragraphs() string {
	var all []string
	for _, p := range c {
		if p.Text != "" {
			all = append(all, plain(string(p.Text)))
		}
	}
	return strings.Join(all, "\n\n")
}

// reconcile compares the items that were streamed with the whole output, which
// some services send empty: what is missing is taken from there, and the order.
func (a *assembler) reconcile(output []json.RawMessage) {
	items := make([]item, 0, len(output))
	raws := make([]json.RawMessage, 0, len(output))
	for _, raw := range output {
		if it, err := readItem(raw); err == nil && it.Type != "" {
			items, raws = append(items, it), append(raws, raw)
		}
	}
	if len(items) == 0 {
		a.line()
		return
	}
	p := a.pair(items)
	order := make([]*slot, len(items))
	for i := range items {
		it := &items[i]
		s := p.of[i]
		if s == nil && p.said[it.Type] {
			continue // its text is there, told as one with another
		}
		if s == nil {
			s = a.late(it, place{})
		}
		a.close(s, it, raws[i], p.even[it.Type])
		order[i] = s
	}
	a.sort(order)
}

// pairs says which slot belongs to which item of the output.
type pairs struct {
	of   []*slot
	even map[string]bool // kinds of which as many were streamed
	said map[string]bool // kinds whose text was all streamed, cut into items otherwise
}

// pair finds the slot of each item: by id, else by the order within its kind.
func (a *assembler) pair(items []item) pairs {
	p := pairs{make([]*slot, len(items)), map[string]bool{}, map[string]bool{}}
	known := map[string][]*slot{}
	kinds := map[string][]*slot{}
	for _, s := range a.slots {
		kinds[s.kind] = append(kinds[s.kind], s)
		for _, key := range s.keys() {
			known[key] = append(known[key], s)
		}
	}
	left := maps.Clone(kinds)
	used := map[*slot]bool{}
	of := map[string]int{}
	for i := range items {
		of[items[i].Type]++
		for _, key := range items[i].keys() {
			if s := unused(known, key, used); p.of[i] == nil && s != nil {
				p.of[i], used[s] = s, true
			}
		}
	}
	for i := range items {
		if p.of[i] == nil {
			if s := unused(left, items[i].Type, used); s != nil {
				p.of[i], used[s] = s, true
			}
		}
	}
	for kind, n := range of {
		p.even[kind] = n == len(kinds[kind])
		p.said[kind] = kind != kindCall && len(kinds[kind]) > 0 && !p.even[kind] && sameText(kind, kinds[kind], items)
	}
	return p
}

// unused takes the first slot of a list that is not used yet.
func unused(lists map[string][]*slot, key string, used map[*slot]bool) *slot {
	list := lists[key]
	for len(list) > 0 && used[list[0]] {
		list = list[1:]
	}
	lists[key] = list
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// keys are the names by which an item is known within its kind.
func (s *slot) keys() []string { return keys(s.kind, s.id, s.call) }

func (it *item) keys() []string { return keys(it.Type, it.ID, it.CallID) }

func keys(kind, id, call string) []string {
	var out []string
	if call != "" {
		out = append(out, kind+"\x00call\x00"+call)
	}
	if id != "" {
		out = append(out, kind+"\x00id\x00"+id)
	}
	return out
}

// sameText reports whether the items of a kind say together what was streamed.
func sameText(kind string, slots []*slot, items []item) bool {
	var came, full strings.Builder
	for _, s := range slots {
		came.WriteString(s.text.String())
	}
	for i := range items {
		if items[i].Type == kind {
			full.WriteString(items[i].text(slots[0].from.what))
		}
	}
	return came.Len() > 0 && came.String() == full.String()
}

// line puts the slots in the order of their places in the output, if each told
// one of its own: items side by side may end in another order than theirs.
func (a *assembler) line() {
	seen := map[int]bool{}
	for _, s := range a.slots {
		if !s.index.ok || seen[s.index.n] {
			return
		}
		seen[s.index.n] = true
	}
	slices.SortStableFunc(a.slots, func(x, y *slot) int { return x.index.n - y.index.n })
}

// sort puts the slots in the order of the output. One that is not in it stays
// behind the one that it came after.
func (a *assembler) sort(order []*slot) {
	listed := map[*slot]bool{}
	for _, s := range order {
		if s != nil {
			listed[s] = true
		}
	}
	after := map[*slot][]*slot{}
	var last *slot
	for _, s := range a.slots {
		if listed[s] {
			last = s
		} else {
			after[last] = append(after[last], s)
		}
	}
	out := append(make([]*slot, 0, len(a.slots)), after[nil]...)
	for _, s := range order {
		if s != nil {
			out = append(append(out, s), after[s]...)
		}
	}
	a.slots = out
}
