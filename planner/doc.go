// Package planner decides how a need is met: on which rung, from which
// snapshot, by which route, with which fallbacks, and why.
//
// It is pure: no clock, no I/O, no goroutine; the same facts and need give the
// same plan. Time, where it matters, is a parameter. Every function may be
// called concurrently, and every value type is safe to copy.
//
// # How a plan is made
//
//  1. The need is checked and its bundles are expanded (Expand).
//  2. Each rung is scored, rank − 10·(reward − ½), lower is better, and tried
//     against the need; one that cannot do it is left out with its reason.
//  3. Within each rung that is left: reuse the cheapest snapshot that holds all
//     of the need; else branch the best base; else boot.
//  4. The best score is the plan, the others are its fallbacks in order, and
//     every step is kept as a sentence in Plan.Why.
//
// # What keeps a failing rung out
//
// The reward moves a rung by five ranks at most, up or down, and ties go to the
// lower rank. So the nudge alone never pushes a dead rung past a healthy
// neutral neighbour five ranks away. That is the Breaker's work: after a few
// failures of the rung in a row it leaves the plan, and one probe job at a time
// is let through after a back-off.
//
// # What a job's code needs
//
// Imports reads the modules that a program imports from its text, and
// NeedFromImports turns them into capabilities.
package planner
