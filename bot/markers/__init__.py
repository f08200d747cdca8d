"""The marker probe: a real run whose model records its prompts, at each entry point, by each way to a model.

It is the same for users, from the installed program (`ticketsmith markers`), and for the tests.
"""
