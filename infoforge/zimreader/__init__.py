"""ZIM files are read by libzim in a child process: what a damaged file does there ends only it."""
