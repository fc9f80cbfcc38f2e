"""How agents find and use the tool: the skill file, the MCP server, batches, counts."""
