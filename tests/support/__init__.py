"""What tests share: servers, ZIM files, and runs of the installed command."""
