// Package interpreter reads resource templates by the Lua scripts of ResourceInterpreterCustomizations: how many replicas they have
// and what each needs, what they depend on, what makes a copy healthy.
//
// A script may compute, and nothing else: it reaches no file, no clock and no chance, and is bounded in steps, in memory and in depth. So it
// gives the same result for the same objects everywhere, and harms nothing but its own kind. Source: Karmada's declarative interpreter.
package interpreter
