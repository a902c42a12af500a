package sandbox

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// native confines by Landlock, or by bubblewrap where that is missing.
func native(c Config, x *plan) (holder, error) {
	abi, why := landlockABI()
	if abi > 0 {
		return newKernel(x, abi)
	}
	if c.Backend == "" && hasBubble() {
		return newBubble(c, x)
	}
	return nil, errors.New(why)
}

// kernel confines by Landlock and seccomp.
type kernel struct {
	x      *plan
	abi    int
	filter bool
	reach  *reach
	thread *thread
}

func newKernel(x *plan, abi int) (*kernel, error) {
	k := &kernel{x: x, abi: abi, filter: hasSeccomp()}
	if x.reach == Proxied && abi < abiNetwork {
		x.reach = Closed // no version before can tell ports apart
	}
	if x.reach != Open && !k.filter && abi < abiNetwork {
		return nil, errors.New("the network cannot be held: this kernel (" + release() + ") has neither seccomp nor Landlock's rules for TCP (6.7)")
	}
	return k, k.renew(x.scan())
}

// renew makes a thread for what there is now.
func (k *kernel) renew(r *reach) error {
	rules, err := newRuleset(k.x, r, k.abi)
	if err != nil {
		return err
	}
	defer rules.close()
	x := k.x
	next, err := newThread(func() error {
		if !k.filter {
			return confine(rules, nil)
		}
		return confine(rules, filter(x))
	})
	if err != nil {
		return err
	}
	if k.thread != nil {
		k.thread.close()
	}
	k.reach, k.thread = r, next
	return nil
}

// start follows what has changed on the way to denied places first: a file
// that was put there, or replaced, is in no grant.
func (k *kernel) start(cmd *exec.Cmd) error {
	if k.reach.stale() {
		absent := k.x.absent
		k.x.absent = nil
		for _, path := range absent {
			k.x.refuse(path)
		}
		next := k.x.scan()
		if k.reach.covers(next) {
			k.reach.seen, k.reach.gone = next.seen, next.gone
		} else if err := k.renew(next); err != nil {
			return err
		}
	}
	return k.thread.start(cmd)
}

func (k *kernel) close() error {
	k.thread.close()
	return nil
}

func (k *kernel) status() Status {
	st := landlockStatus(k.abi, k.filter)
	x := k.x
	if list := x.exposed(); len(list) > 0 {
		st.NotHeld = append(st.NotHeld, "reads of "+some(list)+", which lie in a writable folder")
	}
	if len(x.fixed) > 0 {
		st.NotHeld = append(st.NotHeld, "writes to "+some(x.fixed)+", which lie in a writable folder")
	}
	if len(x.carve) > 0 {
		st.NotHeld = append(st.NotHeld, "nothing in the home folder's own dot files can be written, and no new file directly in "+some(x.carve))
	}
	if k.reach.full {
		st.Why = "some files cannot be read: the folders around denied places hold too many entries"
	}
	return st
}

func some(list []string) string {
	const most = 3
	if len(list) > most {
		return strings.Join(list[:most], ", ") + " and others"
	}
	return strings.Join(slices.Clone(list), ", ")
}

// landlockStatus says what a version of Landlock holds.
func landlockStatus(abi int, filter bool) Status {
	st := Status{Active: true, Backend: Landlock, ABI: abi, Files: true, Network: abi >= abiNetwork || filter, Sockets: filter}
	st.Signals = abi >= abiScope && landlockErrata()&errataSignal != 0
	not := func(missing bool, what string) {
		if missing {
			st.NotHeld = append(st.NotHeld, what)
		}
	}
	not(true, "modes, owners and times of files outside")
	not(true, "the names of files in places that may not be read")
	not(true, "single files inside a writable folder, such as .git/hooks")
	not(abi < abiTruncate, "emptying files outside by truncate (needs Linux 6.2)")
	not(abi < abiNetwork, "hosts: with rules for the network nothing can be reached (needs Linux 6.7)")
	not(!st.Signals, "signals to processes outside (needs Linux 6.15, or 6.12 with its corrections)")
	not(!filter, "sockets and rare calls (needs a kernel with seccomp)")
	return st
}

func probe() Status {
	abi, why := landlockABI()
	switch {
	case abi > 0:
		return landlockStatus(abi, hasSeccomp())
	case hasBubble():
		return bubbleStatus(why)
	}
	return Status{Backend: None, Why: why}
}
