// Package writing holds what attached daemons share that write to the API server of others: the Lease by which one of several
// writes, how many requests are under way, and which answers ask for patience.
package writing
