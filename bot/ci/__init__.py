"""One run inside a job of GitHub Actions: one job works and cannot write, another one publishes and runs nothing."""
