"""A folder of documents becomes a ZIM file.

`scan` lists the files and reads the start of each for its title, `entries` holds every path, title
and alias, `pool` runs the `readers` in worker processes, `writer` streams the pages into libzim;
`build.zimify` calls them in turn.
"""
