"""A repository, two tickets, and the commands that a person would give: `fix`, merge, `verify`, `fix` again."""
