"""Scouts as retrievers of other libraries; each module needs the extra of its name."""
