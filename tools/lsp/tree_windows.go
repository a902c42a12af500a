package lsp

import (
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a server with all it starts: a job object, which ends its members
// when it is closed, also when this program crashes.
type tree struct {
	mu  sync.Mutex // guards job
	job windows.Handle
}

func newTree(string) *tree { return &tree{} }

// start starts the server and puts it into a job at once; what it starts
// before that is not in the job.
func (t *tree) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	limit := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	if err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	t.job = job
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err != nil {
		return nil // it has ended: nothing is left to hold
	}
	defer func() { _ = windows.CloseHandle(p) }()
	_ = windows.AssignProcessToJobObject(job, p)
	return nil
}

// term does nothing: there is no way to ask a process without a console.
func (t *tree) term() {}

func (t *tree) kill() {
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
