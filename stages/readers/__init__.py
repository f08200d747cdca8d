"""What a command says about its tests, read from what it wrote for programs, never from its words for people."""
