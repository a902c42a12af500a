//go:build !linux

package sandbox

import (
	"errors"
	"runtime"
)

func native(_ Config, x *plan) (holder, error) {
	if runtime.GOOS == "darwin" {
		return newSeatbelt(x)
	}
	return nil, errors.New(noneWhy())
}

func noneWhy() string {
	if runtime.GOOS == "windows" {
		return "Windows has no way to confine a program without an installation of its own: use WSL, or the backend docker"
	}
	return "there is no sandbox for " + runtime.GOOS + ": use the backend docker"
}

func probe() Status {
	if runtime.GOOS == "darwin" {
		return seatbeltStatus()
	}
	return Status{Backend: None, Why: noneWhy()}
}
