"""Long work in cells: each is named by all that its numbers depend on, and kept when it is done."""
