package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxCommand is a little below the longest command line of the system.
const maxCommand = 30_000

func findShell(want string) (Shell, error) {
	if want != "" {
		path, err := exec.LookPath(want)
		if err != nil {
			return Shell{}, err
		}
		return shellAt(path), nil
	}
	if git, err := exec.LookPath("git"); err == nil { // <Git>\cmd\git.exe
		if path := filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"); exists(path) {
			return Shell{path, Bash}, nil
		}
	}
	if path := filepath.Join(os.Getenv("ProgramFiles"), "Git", "bin", "bash.exe"); exists(path) {
		return Shell{path, Bash}, nil
	}
	if path := firstOf("pwsh", "powershell", "cmd"); path != "" {
		return shellAt(path), nil
	}
	return Shell{}, errors.New("no shell was found: neither Git's bash nor PowerShell nor cmd is in PATH; install Git for Windows")
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Tracks reports whether the shell can tell in which directory it ends. Never
// here: a further descriptor cannot be inherited here.
func (s Shell) Tracks() bool { return false }

func (s Shell) args(command string, _ bool) []string {
	switch s.Kind {
	case PowerShell:
		return []string{s.Path, "-NoProfile", "-NonInteractive", "-Command", command}
	case Cmd:
		return []string{s.Path, "/d", "/s", "/c", command}
	}
	return []string{s.Path, "-c", command}
}

func (s Shell) extra(*os.File) []*os.File { return nil }

func readDir(*os.File) (dir string, gone bool) { return "", false }

func signalName(*os.ProcessState) string { return "" }

// tree is the processes of one command: a job object, which ends its members
// when it is closed, also when this program crashes.
type tree struct {
	mu  sync.Mutex // guards job
	job windows.Handle
}

func newTree(string) *tree { return &tree{} }

// start starts the shell and puts it into a job at once; what it starts before
// that is not in the job.
func (t *tree) start(cmd *exec.Cmd, by func(*exec.Cmd) error) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	limit := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if err := startBy(cmd, by); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	t.job = job
	t.adopt(cmd.Process.Pid)
	return nil
}

// adopt puts a process into the job, if it has not ended already.
func (t *tree) adopt(pid int) {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return // it has ended: nothing is left to hold
	}
	defer func() { _ = windows.CloseHandle(p) }()
	_ = windows.AssignProcessToJobObject(t.job, p)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_      [4]int64
	_      uint32
	_      uint32
	active uint32
	_      uint32
}

func (t *tree) alive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job == 0 {
		return false
	}
	var info accounting
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.active > 0
}

// left says that there is something; names are not looked up here.
func (t *tree) left() []Process {
	if t.alive() {
		return []Process{{Command: "a process of the command"}}
	}
	return nil
}

func (t *tree) stop(time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
}

func (t *tree) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}

func stopAll(_ string, trees map[int]*tree, grace time.Duration) {
	for _, t := range trees {
		t.stop(grace)
		t.release()
	}
}
