//go:build !linux

package rungtest

import "testing"

// hostState is what of a rung can be left on a host; it can be seen on Linux.
type hostState struct{}

func observe() hostState { return hostState{} }

func steady(testing.TB) hostState { return hostState{} }

// alive lists the processes that carry a marker; it cannot be seen here.
func alive(string) []int { return nil }

// inParent cannot be seen here.
func inParent(int, string) bool { return true }

// CheckNothingLeft needs Linux's /proc and checks nothing here.
func CheckNothingLeft(testing.TB) {}

func settled(testing.TB, hostState) {}
