"""Prompts, model servers, and quoting without one."""
