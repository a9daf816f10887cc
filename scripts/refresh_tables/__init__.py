"""Readers of training frameworks' own settings: one module a library, each with `read()` that returns a Table."""
