"""What answers a prompt: the tool loop over litellm, or an external program."""
