package oh

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// Conversation is one history with its state. What is of record is written to
// the log first and applied to memory after, so that a crash loses at most the
// event in flight; see [Open] for what a crash leaves. The history is legal at
// every moment: roles alternate, and each call has exactly one result, in the
// message after it.
//
// One run at a time owns a conversation ([Conversation.Begin]); reading, and
// [Conversation.Enqueue], are safe from any goroutine.
type Conversation struct {
	mu    sync.Mutex // guards all below
	log   Log
	msgs  []Message // all but the tail
	shown bool      // the tail was shown: it lies behind the end of msgs
	tail  tail
	ids   map[string]bool   // of calls
	reads map[string]string // content hash by path
	seen  map[string]string // what images show, by their key
	state State
	queue []Blocks
	busy  bool
	memo  Memo
}

// tail is the user message that is still growing: the results of the last
// reply's calls, then what was said since.
type tail struct {
	id      string
	rev     int  // how often it grew after it was sent
	sent    bool // Messages has shown it
	calls   []ToolUse
	results map[string]ToolResult // by call
	said    Blocks
}

// State is what belongs to a conversation beside its messages. It changes by
// log entries only, so that a resume restores it.
type State struct {
	Session string
	Mode    Mode
	Before  Mode // what plan mode was entered from; "" outside it, or when nothing was before
	Profile string
	Model   string
	Effort  string
	Dir     string // working directory of tools, absolute
	Title   string
	System  string // the rendered system prompt
	Todos   []Todo // not to be changed in place
	Spend   []Spend
	Prompt  int // tokens of the last prompt plus its reply; 0 when unknown
}

// Spend is what one model of one profile has used, side requests included. Who
// knows the prices makes a cost of it.
type Spend struct {
	Profile, Model string
	Usage          Usage
}

// InterruptedText is the result that stands for a call that did not finish.
const InterruptedText = "[interrupted] This call did not finish: the run was stopped or the program ended first. It may have taken effect in part; check before you repeat it."

// Open makes a conversation from the entries of an earlier one, if any, and
// appends new ones to log. Each call that has no result gets an interrupted
// one. A nil past begins empty; an error in it ends Open.
func Open(log Log, past iter.Seq2[Entry, error]) (*Conversation, error) {
	c := &Conversation{log: log, ids: map[string]bool{}, reads: map[string]string{}, seen: map[string]string{}}
	seen := map[string]bool{}
	if past != nil {
		for e, err := range past {
			if err != nil {
				return nil, fmt.Errorf("open conversation: %w", err)
			}
			if e.ID != "" && seen[e.ID] {
				continue // a line that is there twice
			}
			seen[e.ID] = true
			c.apply(e.Event)
		}
	}
	for _, call := range c.OpenCalls() {
		if err := c.Append(NewEntry(interrupted(call))); err != nil {
			return nil, fmt.Errorf("open conversation: %w", err)
		}
	}
	return c, nil
}

// Append writes an entry to the log and then applies it. On an error nothing
// is applied.
func (c *Conversation) Append(e Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.append(e)
}

func (c *Conversation) append(e Entry) error {
	if err := c.log.Append(e); err != nil {
		return fmt.Errorf("write session log: %w", err)
	}
	c.apply(e.Event)
	return nil
}

// Sync makes the log durable.
func (c *Conversation) Sync() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.log.Sync(); err != nil {
		return fmt.Errorf("sync session log: %w", err)
	}
	return nil
}

// OpenCalls returns the calls that have no result yet.
func (c *Conversation) OpenCalls() []ToolUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	var open []ToolUse
	for _, call := range c.tail.calls {
		if _, ok := c.tail.results[call.ID]; !ok {
			open = append(open, call)
		}
	}
	return open
}

func interrupted(call ToolUse) ToolDone {
	return ToolDone{ID: call.ID, Tool: call.Name, IsError: true, Cause: CauseInterrupted,
		Content: Blocks{Text{Text: InterruptedText}}}
}

func (c *Conversation) apply(e Event) {
	switch e := e.(type) {
	case SessionStarted:
		c.state.Session = e.Session
		if c.state.Dir == "" {
			c.state.Dir = e.Dir
		}
	case UserTurn:
		c.say(e.Message)
	case MessageDone:
		c.reply(e.Message)
	case ToolDone:
		c.result(e)
	case StateChanged:
		c.change(e)
	case SideUsage:
		c.spend(e.Profile, e.Model, e.Usage)
	case Compaction:
		if e.Phase == CompactionDone && len(e.History) > 0 {
			c.replace(e.History)
		}
	}
}

// grow notes that the tail changes.
func (t *tail) grow() {
	if t.sent {
		t.rev++
		t.sent = false
	}
}

func (c *Conversation) say(m Message) {
	c.tail.grow()
	if c.tail.id == "" {
		c.tail.id = m.ID
	}
	c.tail.said = append(c.tail.said, m.Content...)
}

// LostText stands for a message that should be before a reply and is not there:
// its line in the log was damaged.
const LostText = "[A message is missing here: its record was damaged.]"

func (c *Conversation) reply(m Message) {
	if len(c.tail.calls) == 0 && len(c.tail.said) == 0 {
		c.say(Message{ID: m.ID + "-lost", Content: Blocks{Text{Text: LostText, Context: true}}})
	}
	c.flush()
	c.msgs = append(c.msgs, m)
	c.spend(c.state.Profile, m.Model, m.Usage)
	if n := m.Usage.Prompt() + m.Usage.OutputTokens; n > 0 {
		c.state.Prompt = n
	}
	calls := m.Content.ToolUses()
	if len(calls) == 0 {
		return
	}
	c.tail = tail{id: m.ID + "-r", calls: calls, results: map[string]ToolResult{}}
	for _, call := range calls {
		c.ids[call.ID] = true
	}
}

func (c *Conversation) result(e ToolDone) {
	for _, call := range c.tail.calls {
		if call.ID == e.ID {
			c.tail.grow()
			c.tail.results[e.ID] = ToolResult{ToolUseID: e.ID, Content: e.Content, IsError: e.IsError, Meta: e.Meta}
			return
		}
	}
}

func (c *Conversation) change(e StateChanged) {
	s := &c.state
	s.switchMode(e)
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&s.Profile, e.Profile},
		{&s.Model, e.Model},
		{&s.Effort, e.Effort},
		{&s.Dir, e.Dir},
		{&s.Title, e.Title},
		{&s.System, e.System},
	} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if e.Todos != nil {
		s.Todos = *e.Todos
	}
	maps.Copy(c.reads, e.Read)
	maps.Copy(c.seen, e.Images)
}

// switchMode remembers what plan mode was entered from, whoever entered it.
func (s *State) switchMode(e StateChanged) {
	switch {
	case e.Mode == "" || e.Mode == ModePlan && s.Mode == ModePlan:
	case e.Mode == ModePlan:
		s.Before = s.Mode
	default:
		s.Before = ""
	}
	if e.Mode != "" {
		s.Mode = e.Mode
	}
	if e.Before != "" && s.Mode == ModePlan {
		s.Before = e.Before
	}
}

func (c *Conversation) spend(profile, model string, u Usage) {
	if u == (Usage{}) {
		return
	}
	for i := range c.state.Spend {
		if s := &c.state.Spend[i]; s.Profile == profile && s.Model == model {
			s.Usage = s.Usage.Add(u)
			return
		}
	}
	c.state.Spend = append(c.state.Spend, Spend{profile, model, u})
}

func (c *Conversation) replace(history []Message) {
	c.msgs = slices.Clone(history)
	c.tail, c.shown = tail{}, false
	c.state.Prompt = 0
	c.memo.Reset()
	last := len(c.msgs) - 1
	if m := c.msgs[last]; m.Role == User {
		c.msgs = c.msgs[:last]
		c.tail = tail{id: m.ID, said: m.Content}
	}
}

// flush ends the tail and makes it a message, if it says anything.
func (c *Conversation) flush() {
	c.msgs = c.history()
	c.tail, c.shown = tail{}, false
}

// history is the messages with the tail. It shares the memory of msgs, where
// nothing that was returned is ever written again: to copy a long history for
// each request would make every turn of it dearer than the last.
func (c *Conversation) history() []Message {
	n := len(c.msgs)
	if c.shown && c.tail.sent {
		return c.msgs[: n+1 : cap(c.msgs)]
	}
	m, ok := c.tail.message()
	if !ok {
		return c.msgs
	}
	if c.shown { // an earlier form of the tail is in use
		c.msgs = append(make([]Message, 0, cap(c.msgs)), c.msgs...)
	}
	full := append(c.msgs, m)
	c.msgs, c.shown = full[:n], true
	return full
}

func (t *tail) message() (Message, bool) {
	blocks := make(Blocks, 0, len(t.calls)+len(t.said))
	for _, call := range t.calls {
		r, ok := t.results[call.ID]
		if !ok {
			done := interrupted(call)
			r = ToolResult{ToolUseID: done.ID, Content: done.Content, IsError: true}
		}
		blocks = append(blocks, r)
	}
	blocks = append(blocks, t.said...)
	if len(blocks) == 0 {
		return Message{}, false
	}
	id := t.id
	if t.rev > 0 {
		id += "." + strconv.Itoa(t.rev)
	}
	return Message{ID: id, Role: User, Content: blocks}, true
}

// Messages returns the history, always legal: a call that has no result yet
// has an interrupted one. The messages are not to be changed.
func (c *Conversation) Messages() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.history()
	c.tail.sent = c.shown
	return out[:len(out):len(out)]
}

// Pending reports whether the history waits for the model: it ends with a user
// message.
func (c *Conversation) Pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.tail.calls) > 0 || len(c.tail.said) > 0
}

// State returns the state now.
func (c *Conversation) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Spend = slices.Clone(s.Spend)
	return s
}

// ReadHash implements [ReadLog].
func (c *Conversation) ReadHash(path string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.reads[path]
	return h, ok
}

// Memo is where codecs keep this conversation's encoded messages.
func (c *Conversation) Memo() *Memo { return &c.memo }

// Seen returns what an image shows in words, by the SHA-256 of its data in hex.
func (c *Conversation) Seen(hash string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	words, ok := c.seen[hash]
	return words, ok
}

// Enqueue puts content into the queue: what was typed while a run is going,
// notices of agents and tasks. A run takes it in between turns, and does not
// end while something is queued. Safe from any goroutine.
func (c *Conversation) Enqueue(blocks ...Block) {
	if len(blocks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, blocks)
}

// Dequeue takes everything out of the queue, oldest first.
func (c *Conversation) Dequeue() []Blocks {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queue
	c.queue = nil
	return q
}

// Queued reports whether something waits in the queue.
func (c *Conversation) Queued() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) > 0
}

// Begin claims the conversation for a run and returns what ends the claim.
// While another run has it the error is [ErrBusy].
func (c *Conversation) Begin() (end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return nil, ErrBusy
	}
	c.busy = true
	return func() {
		c.mu.Lock()
		c.busy = false
		c.mu.Unlock()
	}, nil
}

// Claim returns m with call ids (letters, digits, _ and -, at most 64) and tool
// names (see [LegalName]) that are legal on every wire, the ids not yet used in
// this conversation. The same history gives the same ids.
func (c *Conversation) Claim(m Message) Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := map[string]bool{}
	content := slices.Clone(m.Content)
	for i, b := range content {
		if u, ok := b.(ToolUse); ok {
			u.ID = c.freeID(LegalID(u.ID), taken)
			u.Name = LegalName(u.Name)
			taken[u.ID] = true
			content[i] = u
		}
	}
	m.Content = content
	return m
}

func (c *Conversation) freeID(id string, taken map[string]bool) string {
	free := id
	for n := 2; c.ids[free] || taken[free]; n++ {
		suffix := "_" + strconv.Itoa(n)
		free = id[:min(len(id), maxName-len(suffix))] + suffix
	}
	return free
}
