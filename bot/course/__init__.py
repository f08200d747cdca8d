"""The course of a GitHub issue around its run: from the label to a pull request, and what people do with that."""
