package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openharness/oh"
)

// fillDisk is the child of TestDiskFull, where there is one.
var fillDisk func(dir string) int

func TestMain(m *testing.M) {
	if dir := os.Getenv("OH_SESSION_TEST_FULL"); dir != "" && fillDisk != nil {
		os.Exit(fillDisk(dir))
	}
	if dir := os.Getenv("OH_SESSION_TEST_CHILD"); dir != "" {
		os.Exit(child(dir, os.Getenv("OH_SESSION_TEST_REF")))
	}
	if dir := os.Getenv("OH_SESSION_TEST_FORK"); dir != "" {
		os.Exit(forkOnce(dir, os.Getenv("OH_SESSION_TEST_REF")))
	}
	os.Exit(m.Run())
}

func at(n int) time.Time { return time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC) }

func entry(id string, e oh.Event) oh.Entry { return oh.Entry{ID: id, Time: at(1), Event: e} }

func user(id, words string) oh.Entry {
	return entry("e-"+id, oh.UserTurn{Source: oh.FromUser,
		Message: oh.Message{ID: id, Role: oh.User, Content: oh.Blocks{oh.Text{Text: words}}}})
}

func reply(id string, blocks ...oh.Block) oh.Entry {
	return entry("e-"+id, oh.MessageDone{Message: oh.Message{ID: id, Role: oh.Assistant, Content: blocks,
		Model: "m1", Stop: oh.StopEnd, Usage: oh.Usage{InputTokens: 5, OutputTokens: 2}}})
}

func done(call, words string) oh.Entry {
	return entry("e-"+call, oh.ToolDone{ID: call, Tool: "bash", Content: oh.Blocks{oh.Text{Text: words}}})
}

func use(id string) oh.ToolUse {
	return oh.ToolUse{ID: id, Name: "bash", Input: []byte(`{"command":"ls <a> & \"b\""}`)}
}

func start(id string) oh.SessionStarted {
	return oh.SessionStarted{Session: id, Version: "1.0.0", Dir: "/w"}
}

func store(t *testing.T) Store {
	return Store{Dir: filepath.Join(t.TempDir(), "sessions", "proj-abc"), Version: "1.0.0"}
}

// write makes a session and closes it.
func write(t *testing.T, s Store, id string, entries ...oh.Entry) string {
	t.Helper()
	f, err := s.Create(oh.SessionStarted{Session: id, Dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := f.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Path()
}

func events(t *testing.T, f *File) []oh.Event {
	t.Helper()
	var list []oh.Event
	for e, err := range f.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Event)
	}
	return list
}

func open(t *testing.T, s Store, ref string) *File {
	t.Helper()
	f, err := s.Open(ref)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestCreateIsLazy(t *testing.T) {
	s := store(t)
	f, err := s.Create(oh.SessionStarted{Dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	want := []oh.Event{oh.SessionStarted{Session: f.ID(), Version: "1.0.0", Dir: "/w"}}
	if diff := cmp.Diff(want, events(t, f)); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(f.Sync(), f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if infos, err := s.List(0); err != nil || len(infos) != 0 {
		t.Errorf("List = %v, %v", infos, err)
	}
	if _, err := os.Lstat(filepath.Dir(s.Dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
	if err := f.Append(user("u", "x")); err == nil {
		t.Error("a closed session took an entry")
	}
}

func TestRoundTrip(t *testing.T) {
	s := store(t)
	odd := "line\u2028sep \u2029 <html> & \x00 \"q\" \xff"
	todos := []oh.Todo{{Content: "a", Status: oh.TodoPending}}
	in := []oh.Entry{
		user("u1", odd),
		reply("a1", oh.Thinking{Text: "hm", Opaque: &oh.Opaque{Origin: "p", Data: []byte(`{"sig":"<&>"}`)}}, use("c1")),
		done("c1", strings.Repeat("long ", 40_000)),
		entry("s", oh.StateChanged{Mode: oh.ModePlan, Todos: &todos}),
		entry("n", oh.Notice{Level: oh.Info, Text: "n"}),
		entry("x", oh.UnknownEvent{Type: "newer", Raw: []byte(`{"type":"newer","v":1}`)}),
	}
	path := write(t, s, "one", in...)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "\n"); n != len(in)+1 {
		t.Errorf("%d lines for %d entries", n, len(in)+1)
	}
	if !strings.Contains(string(raw), `"ls <a> & \"b\""`) {
		t.Error("input is not kept byte for byte")
	}
	if runtime.GOOS != "windows" {
		for p, want := range map[string]os.FileMode{path: 0o600, s.Dir: 0o700} {
			if st, err := os.Stat(p); err != nil || st.Mode().Perm() != want {
				t.Errorf("%s: %v %v, want %v", p, st.Mode(), err, want)
			}
		}
	}
	f := open(t, s, "one")
	var got []oh.Entry
	for e, err := range f.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	clean := strings.ToValidUTF8(odd, "\uFFFD")
	want := append([]oh.Entry{entry(got[0].ID, start("one"))}, in...)
	want[0].Time = got[0].Time
	want[1] = user("u1", clean)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.Skipped().String() != "" || f.Elsewhere() {
		t.Errorf("skipped %q, elsewhere %v", f.Skipped(), f.Elsewhere())
	}
}

func TestStartEntryGivenByCaller(t *testing.T) {
	s := store(t)
	path := write(t, s, "one", entry("mine", start("one")), user("u", "x"))
	raw, _ := os.ReadFile(path)
	if n := strings.Count(string(raw), "session_started"); n != 1 {
		t.Errorf("%d start entries", n)
	}
}

// The run was killed while the second call was at work, in the middle of a
// line: the finished result stays, the other call is answered, and what comes
// next is legal.
func TestKilledWithOpenCalls(t *testing.T) {
	s := store(t)
	path := write(t, s, "one", user("u1", "go"), reply("a1", use("c1"), use("c2")), done("c1", "first"))
	torn, _ := encode(done("c2", "second"))
	appendRaw(t, path, string(torn[:len(torn)/2]))
	before, _ := os.ReadFile(path)

	f := open(t, s, "one")
	c, err := oh.Open(f, f.Entries())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Append(user("u2", "again")); err != nil {
		t.Fatal(err)
	}
	want := []oh.Message{
		{ID: "u1", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "go"}}},
		{ID: "a1", Role: oh.Assistant, Content: oh.Blocks{use("c1"), use("c2")}, Model: "m1", Stop: oh.StopEnd, Usage: oh.Usage{InputTokens: 5, OutputTokens: 2}},
		{ID: "a1-r", Role: oh.User, Content: oh.Blocks{
			oh.ToolResult{ToolUseID: "c1", Content: oh.Blocks{oh.Text{Text: "first"}}},
			oh.ToolResult{ToolUseID: "c2", Content: oh.Blocks{oh.Text{Text: oh.InterruptedText}}, IsError: true},
			oh.Text{Text: "again"}}},
	}
	if diff := cmp.Diff(want, c.Messages()); diff != "" {
		t.Error(diff)
	}
	f.Close()
	after, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(after), string(before)+"\n{") {
		t.Error("the file was changed, or the next entry is not on a line of its own")
	}
	g := open(t, s, "one")
	c, err = oh.Open(g, g.Entries())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Messages()); diff != "" {
		t.Errorf("the second time: %s", diff)
	}
	if got := g.Skipped(); got.Count != 1 || !cmp.Equal(got.Lines, []int{5}) {
		t.Errorf("skipped %+v", got)
	}
}

func appendRaw(t *testing.T, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestDamagedFile(t *testing.T) {
	s := store(t)
	path := write(t, s, "one", user("u1", "before"))
	whole, _ := encode(user("u2", "behind a torn line"))
	nul, _ := encode(user("u3", "behind NUL"))
	appendRaw(t, path, `{"id":"half","time":"2026-01-02T03:04:05Z","event":{"type":"user_t`+string(whole)+ // 3
		strings.Repeat("\x00", 5000)+"\n"+ // 4
		"\n"+ // 5
		"\x00\x00\x00"+string(nul)+ // 6
		`{"type":"user","message":{"role":"user","content":"of Claude Code"}}`+"\n"+ // 7
		"not JSON \x1b[31m\xff\n"+ // 8
		`{"id":"","time":"2026-01-02T03:04:05Z","event":{"type":"notice"}}`+"\n"+ // 9
		`{"id":"bad","time":"2026-01-02T03:04:05Z","event":{"type":"user_turn","message":7}}`+"\n"+ // 10
		"[1,2]\r\n") // 11
	big := strings.Repeat("\u2028x", 60_000)
	last, _ := encode(user("u4", big))
	appendRaw(t, path, string(last)+`{"id":"torn`)
	size := fileSize(t, path)

	f := open(t, s, "one")
	got := events(t, f)
	want := []oh.Event{start("one"), user("u1", "before").Event, user("u2", "behind a torn line").Event,
		user("u3", "behind NUL").Event, user("u4", big).Event}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sk := f.Skipped()
	sk.First = nil
	if diff := cmp.Diff(Skipped{Count: 8, Lines: []int{4, 5, 7, 8, 9, 10, 11, 13}}, sk); diff != "" {
		t.Error(diff)
	}
	if msg := f.Skipped().String(); msg != "8 lines of the session could not be read and left out (lines 4, 5, 7, 8, 9, 10, 11, 13: nothing but NUL bytes)" {
		t.Error(msg)
	}
	f.Close()
	if now := fileSize(t, path); now != size {
		t.Errorf("size %d, was %d", now, size)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func TestBeginningLost(t *testing.T) {
	s := store(t)
	for name, content := range map[string]string{"empty": "", "nul": "\x00\x00", "headless": line1(user("u", "x"))} {
		appendRaw(t, mkdir(t, filepath.Join(s.Dir, name+ext)), content)
		f := open(t, s, name)
		got := events(t, f)
		if len(got) == 0 || got[0].(oh.SessionStarted).Session != name {
			t.Errorf("%s: %v", name, got)
		}
	}
	f, err := s.Open("emp")
	if !errors.As(err, new(*LockedError)) {
		t.Fatal(f, err)
	}
	appendRaw(t, filepath.Join(s.Dir, "void"+ext), "")
	if f, err = s.Open("void"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Append(user("u", "x")), f.Close()); err != nil {
		t.Fatal(err)
	}
	want := []oh.Event{oh.SessionStarted{Session: "void", Version: "1.0.0"}, user("u", "x").Event}
	if diff := cmp.Diff(want, events(t, open(t, s, "void"))); diff != "" || strings.Count(readAll(t, f.Path()), "\n") != 2 {
		t.Error(diff)
	}
	appendRaw(t, filepath.Join(s.Dir, "copied"+ext), line1(entry("a", start("original"))))
	if got := events(t, open(t, s, "copied")); !cmp.Equal(got, []oh.Event{start("copied")}) {
		t.Errorf("a copy under another name: %v", got)
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func line1(e oh.Entry) string {
	l, err := encode(e)
	if err != nil {
		panic(err)
	}
	return string(l)
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A writer that is as fast as the reader does not keep it reading.
func TestReadEndsBesideAWriter(t *testing.T) {
	s := store(t)
	write(t, s, "one", user("u", "x"))
	f := open(t, s, "one")
	n := 0
	for _, err := range f.Entries() {
		if n++; err != nil || n > 10 {
			t.Fatalf("entry %d, %v", n, err)
		}
		if err := f.Append(user("new", "x")); err != nil {
			t.Fatal(err)
		}
	}
	if n != 2 {
		t.Errorf("%d entries", n)
	}
}

func TestLinesOverTheLimit(t *testing.T) {
	var got []string
	in := "a\n" + strings.Repeat("b", 200_000) + "\n" + strings.Repeat("c", 100_000) + "\nd"
	for l, err := range lines(strings.NewReader(in), 100_000) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(l.num, " ", len(l.raw), " ", l.long))
	}
	// The newline counts, so that a line of exactly the limit is too long.
	want := []string{"1 1 false", "2 0 true", "3 0 true", "4 1 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(line1(user("u", "x"))+"half"), errReader{})
	n := 0
	var last error
	for _, err := range Read(broken, func(int, error) { t.Error("skipped") }) {
		n++
		last = err
	}
	if n != 2 || !errors.Is(last, errDisk) {
		t.Errorf("%d entries, then %v", n, last)
	}
}

var errDisk = errors.New("disk failed")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errDisk }
