"""Language models over the kept triplets: prompts, endpoints, replies."""
