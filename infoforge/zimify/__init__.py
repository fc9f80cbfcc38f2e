"""A folder of documents becomes a ZIM file.

The way: `walk` lists the files, `heads` reads the start of each for its title, `shelf` knows every
path, title and alias, `pool` lets `readers` turn documents into pages in worker processes, `writer`
streams them into libzim; `build.zimify` holds it together.
"""
