package proc

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestLiveOutputIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var got []string
		o := &Output{Live: func(s string) {
			got = append(got, fmt.Sprintf("%v %s", time.Since(begun), s))
		}}
		for _, s := range []string{"a", "b", "\x1b[31mc", "\xe4\xbd"} {
			_, _ = io.WriteString(o, s)
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = io.WriteString(o, "\xa0")
		time.Sleep(time.Second)
		_, _ = io.WriteString(o, "late\r")
		sum, err := o.Finish("bash", "c")
		synctest.Wait()
		want := []string{"0s a", "50ms bc", "100ms 你"[:len("100ms ")] + "\u4f60", "1.08s late", "1.08s \n"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if sum.Text != "abc\u4f60late\n" || err != nil {
			t.Errorf("got %+v, %v", sum, err)
		}
	})
}

func TestLiveOutputIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		o := &Output{Live: func(s string) { got = append(got, s) }}
		_, _ = io.WriteString(o, "first\n")
		for i := range 10_000 {
			_, _ = fmt.Fprintf(o, "line %d 世界\n", i)
		}
		_, _ = o.Finish("bash", "c")
		if len(got) != 2 || len(got[1]) > mostLive+10 || !strings.HasPrefix(got[1], "[...]\nline ") || !strings.HasSuffix(got[1], "line 9999 世界\n") {
			t.Errorf("%d pieces, the last begins %.40q", len(got), got[len(got)-1])
		}
	})
}

func TestOutputWithoutWrites(t *testing.T) {
	o := &Output{Limits: oh.Limits{Inline: 1}}
	if sum, err := o.Finish("bash", "c"); sum.Text != "" || sum.Cut || err != nil {
		t.Errorf("got %+v, %v", sum, err)
	}
}
