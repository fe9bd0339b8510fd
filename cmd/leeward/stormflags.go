package main

import "leeward/runtime/storm"

// mixFlag is a mix of kinds with weights.
type mixFlag struct {
	mix   storm.Mix
	known func(kind string) error
}

func (f *mixFlag) Set(s string) error {
	m, err := storm.ParseMix(s, f.known)
	f.mix = m
	return err
}

func (f *mixFlag) String() string { return f.mix.String() }

func (*mixFlag) Type() string { return "mix" }

// killFlag says which clusters fail.
type killFlag struct{ kill storm.Kill }

func (f *killFlag) Set(s string) error {
	k, err := storm.ParseKill(s)
	f.kill = k
	return err
}

func (f *killFlag) String() string { return f.kill.String() }

func (*killFlag) Type() string { return "clusters" }
