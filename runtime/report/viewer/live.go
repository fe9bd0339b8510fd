package viewer

// liveModules are the scripts of the live page, each after those that it imports: those that show runs show what the page was told, too.
var liveModules = []string{
	"scale.js", "model.js", "filter.js", "link.js", "layout.js", "dom.js", "paint.js", "state.js", "charts.js", "lanes.js",
	"livemodel.js", "livelink.js", "liverun.js", "liveedits.js", "liveapi.js", "livefollow.js", "livesearch.js", "livelanes.js", "liveforms.js", "livereason.js", "liveboard.js", "live.js",
}

// Live are the files of the live page of a daemon, by name: index.html is the page.
func Live() map[string][]byte {
	return map[string][]byte{
		"index.html": []byte(read("live.html")), "viewer.css": []byte(lean("viewer.css")), "live.css": []byte(lean("live.css")), "live.js": []byte(joined(liveModules)),
	}
}
