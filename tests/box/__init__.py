"""The boxes under test: real systemd, real rootless Podman, reached over ssh."""
