package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/runtime/daemon/kubeapi"
)

// uiCommand prints the address of the live page.
func uiCommand(line *commandLine) *cobra.Command {
	var open bool
	var server string
	var lasts time.Duration
	u := kubeapi.User{}
	c := &cobra.Command{
		Use:   "ui [--open] [--user NAME] [--group GROUP...] [--for DURATION]",
		Short: "Print the address of the live page, with a token that opens it",
		Long: "ui prints the address of the live page of the daemon. With --open the address has a token, so that a browser\n" +
			"which opens it is signed in: as a viewer, unless --group says otherwise. A browser keeps the part of an address that\n" +
			"has the token to itself. A browser with the address is that user until the token ends: do not pass it on.\n\n" +
			"The daemon need not run. The token is signed with pki/tokens.key of --data-dir: to remove that file and to start the\n" +
			"daemon again ends all tokens.",
		Example: "  leewardd ui --open\n" +
			"  leewardd ui --open --user ada --group " + kubeapi.EditorGroup + " --for 30m",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			daemon, err := line.read()
			if err != nil {
				return err
			}
			switch {
			case !daemon.ui:
				return invalid("ui is false: the daemon serves no live page")
			case daemon.attach != "":
				return invalid("attach is set: the daemon serves no live page beside the API server of another cluster")
			}
			address := "https://" + cmp.Or(server, daemon.reached()) + "/ui/"
			if open {
				token, err := kubeapi.Token(daemon.dataDir, u, lasts, time.Now())
				if err != nil {
					return err
				}
				address += "#token=" + url.QueryEscape(token)
				c.PrintErrf("%s, in %s, until %s.\n", u.Name, strings.Join(u.Groups, ", "), time.Now().Add(lasts).Format(time.TimeOnly))
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), address)
			return err
		},
	}
	c.Flags().BoolVar(&open, "open", false, "sign a token and print an address that signs a browser in")
	c.Flags().StringVar(&u.Name, "user", "leeward:ui", "name of the user of the token")
	c.Flags().StringArrayVar(&u.Groups, "group", []string{kubeapi.ViewerGroup}, "a group of the user; "+kubeapi.EditorGroup+" may taint, drain, hold and pause")
	c.Flags().DurationVar(&lasts, "for", time.Hour, fmt.Sprintf("how long the token is good for, up to %s", kubeapi.MostLasting))
	c.Flags().StringVar(&server, "server", "", "address of the daemon for browsers, as host:port (default: as of leewardd kubeconfig)")
	return c
}
