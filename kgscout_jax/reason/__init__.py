"""Language models over retrieved triplets: prompts, endpoints, replies."""
